//! Tasks and projects, recomputed from the bare rows; what a client and a mandate say of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::World;
use crate::world::bare::{Column, cents, stored, texts};

on_both! {
    tasks_come_by_due_date_with_undated_ones_last,
    tasks_filter_and_count_over_the_whole_set,
    internal_tasks_belong_to_their_people_and_never_to_a_client,
    phases_show_what_is_left_of_their_budgets,
    work_packages_add_up_to_their_phase,
    phases_and_work_packages_out_of_reach_read_like_absent,
    a_client_shows_its_open_tasks,
    long_lists_say_that_they_are_cut,
    a_mandate_shows_its_fiscal_years,
}

/// The day on which the tests take place.
const TODAY: &str = "2026-11-30";

#[derive(Debug, Clone)]
struct Task {
    mandate: String,
    status: String,
    priority: String,
    due_on: String,
    assignee: String,
    author: String,
}

impl Task {
    fn is_overdue(&self) -> bool {
        let is_open = !["done", "cancelled"].contains(&self.status.as_str());
        is_open && !self.due_on.is_empty() && self.due_on.as_str() < TODAY
    }
}

fn tasks(world: &World, firm: &str) -> BTreeMap<String, Task> {
    use Column::{Id, Text};
    let columns = [
        Id("id"),
        Id("mandate_id"),
        Text("status"),
        Text("priority"),
        Text("due_on"),
        Id("assignee_id"),
        Id("created_by"),
    ];
    let task = |row: Vec<String>| {
        let [id, mandate, status, priority, due_on, assignee, author] = row.try_into().unwrap();
        (id, Task { mandate, status, priority, due_on, assignee, author })
    };
    world.bare(firm, "tasks", &columns).into_iter().map(task).collect()
}

fn tasks_come_by_due_date_with_undated_ones_last(world: &World) {
    for firm in ["leman", "saentis"] {
        let bare = tasks(world, firm);
        let mut order: Vec<_> = bare
            .iter()
            .map(|(id, task)| {
                let is_undated = task.due_on.is_empty();
                (is_undated, task.due_on.clone(), id.clone())
            })
            .collect();
        order.sort_unstable();
        let owner = world.client(firm, "owner");
        for size in [7, 100] {
            let (rows, _) = owner.every_page("list_tasks", json!({}), size);
            let expected: Vec<_> = order.iter().map(|(_, _, id)| id.clone()).collect();
            assert_eq!(texts(&rows, "id"), expected, "{firm}");
            for row in &rows {
                let task = &bare[row["id"].as_str().unwrap()];
                assert_eq!(row["is_overdue"], task.is_overdue(), "{row}");
                assert_eq!(row["due_on"].as_str().unwrap_or_default(), task.due_on);
                assert_eq!(row["status"], task.status.as_str());
                assert!(row["status_label"].is_string() && row["priority_label"].is_string());
                assert_eq!(row.get("mandate").is_some(), !task.mandate.is_empty());
                assert_eq!(row.get("client").is_some(), !task.mandate.is_empty());
            }
        }
    }
    for (language, label) in [("fr", "à faire"), ("de", "offen"), ("en", "to do")] {
        world.sql(&format!("UPDATE memberships SET language = '{language}'"));
        let answer = world.owner().ask("list_tasks", json!({ "status": "open", "limit": 1 }));
        assert_eq!(answer["items"][0]["status_label"], label);
        assert_eq!(answer["totals"][0]["status_label"], label);
    }
}

/// Which rows a filter must keep.
type Keeps<'a> = Box<dyn Fn(&Task) -> bool + 'a>;

fn tasks_filter_and_count_over_the_whole_set(world: &World) {
    let (bare, owner) = (tasks(world, "leman"), world.owner());
    let some = bare.values().find(|task| !task.mandate.is_empty() && !task.assignee.is_empty());
    let (mandate, assignee) = (some.unwrap().mandate.clone(), some.unwrap().assignee.clone());
    let dated = |task: &Task, until: &str| !task.due_on.is_empty() && task.due_on.as_str() < until;
    let mut cases: Vec<(Value, Keeps<'_>)> = vec![
        (json!({}), Box::new(|_| true)),
        (json!({ "overdue_only": true }), Box::new(Task::is_overdue)),
        (json!({ "overdue_only": false }), Box::new(|_| true)),
        (json!({ "due_before": TODAY }), Box::new(move |task| dated(task, TODAY))),
        (json!({ "due_before": "2026-12-01" }), Box::new(move |task| dated(task, "2026-12-01"))),
        (json!({ "assignee_id": assignee }), Box::new(|task| task.assignee == assignee)),
        (json!({ "mandate_id": mandate }), Box::new(|task| task.mandate == mandate)),
        (
            json!({ "overdue_only": true, "priority": "high" }),
            Box::new(|task| task.is_overdue() && task.priority == "high"),
        ),
    ];
    for status in ["open", "in_progress", "waiting", "done", "cancelled"] {
        cases.push((json!({ "status": status }), Box::new(move |task| task.status == status)));
    }
    for (filter, keeps) in cases {
        let expected: BTreeMap<_, _> = bare.iter().filter(|(_, task)| keeps(task)).collect();
        assert!(!expected.is_empty(), "{filter}");
        let mut arguments = filter.clone();
        arguments["limit"] = 1.into();
        let answer = owner.ask("list_tasks", arguments);
        assert_eq!(answer["items"].as_array().unwrap().len(), 1);
        assert_eq!(answer["total"], expected.len(), "{filter}");
        let overdue = expected.values().filter(|task| task.is_overdue()).count();
        assert_eq!(answer["overdue"], overdue, "{filter}");
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for task in expected.values() {
            *counts.entry(&task.status).or_default() += 1;
        }
        let totals = answer["totals"].as_array().unwrap().iter();
        let found: BTreeMap<&str, usize> = totals
            .map(|total| {
                let count = total["count"].as_u64().unwrap();
                (total["status"].as_str().unwrap(), usize::try_from(count).unwrap())
            })
            .collect();
        assert_eq!(found, counts, "{filter}");
        let (rows, _) = owner.every_page("list_tasks", filter.clone(), 50);
        let mut found = texts(&rows, "id");
        found.sort_unstable();
        assert!(found.iter().eq(expected.keys().copied()), "{filter}");
    }
}

fn internal_tasks_belong_to_their_people_and_never_to_a_client(world: &World) {
    let bare = tasks(world, "leman");
    for role in ["manager", "accountant", "payroll_officer", "assistant", "auditor"] {
        let person = world.person("leman", role);
        let (me, reached) = (world.user_id(&person.email), world.listed_mandates(&person.email));
        let sees = |task: &Task| {
            if task.mandate.is_empty() {
                task.assignee == me || task.author == me
            } else {
                reached.contains(&task.mandate)
            }
        };
        let expected: Vec<_> =
            bare.iter().filter(|(_, task)| sees(task)).map(|(id, _)| id.clone()).collect();
        let client = world.bearer(&person.token);
        let (rows, _) = client.every_page("list_tasks", json!({}), 100);
        let mut found = texts(&rows, "id");
        found.sort_unstable();
        assert_eq!(found, expected, "{role}");
        let others = world.user_id(&world.person("leman", "owner").email);
        let of_owner = client.ask("list_tasks", json!({ "assignee_id": others }));
        let is_of_mandate = |row: &Value| row.get("mandate_id").is_some();
        assert!(of_owner["items"].as_array().unwrap().iter().all(is_of_mandate), "{role}");
    }
    let client = world.client("leman", "client_user");
    let own = client.ask("search_mandates", json!({ "limit": 100 }));
    let own = texts(own["items"].as_array().unwrap(), "id");
    let expected: Vec<_> = bare
        .iter()
        .filter(|(_, task)| own.contains(&task.mandate))
        .map(|(id, _)| id.clone())
        .collect();
    assert!(!expected.is_empty());
    // Not even an internal task that names the client's own user.
    let me = world.user_id(&world.person("leman", "client_user").email);
    let literal = if world.database.is_postgres() {
        format!("'{me}'")
    } else {
        format!("X'{}'", me.replace('-', ""))
    };
    world.sql(&format!(
        "UPDATE tasks SET assignee_id = {literal} WHERE mandate_id IS NULL AND search_text LIKE 'ranger les archives%'"
    ));
    let (rows, _) = client.every_page("list_tasks", json!({}), 100);
    let mut found = texts(&rows, "id");
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// Mandate, number, budget in thousandths of hours, budget in cents, currency.
type Position = (String, i64, Option<i64>, Option<i64>, String);

/// Minutes and worth in cents by currency, of each operation; the mandate and position of each.
struct Projects {
    /// Position, number, budget in thousandths of hours, by operation.
    operations: BTreeMap<String, (String, i64, Option<i64>)>,
    positions: BTreeMap<String, Position>,
    worked: BTreeMap<String, (i64, BTreeMap<String, i64>)>,
}

fn some(text: &str) -> Option<i64> {
    (!text.is_empty()).then(|| stored(text))
}

impl Projects {
    /// The worth of each entry is taken from the list of time, which is recomputed elsewhere.
    fn of(world: &World, firm: &str) -> Self {
        use Column::{Id, Text};
        let columns = [Id("id"), Id("position_id"), Text("number"), Text("budget_hours")];
        let operations = world.bare(firm, "project_operations", &columns);
        let operation = |row: &Vec<String>| {
            (row[0].clone(), (row[1].clone(), row[2].parse().unwrap(), some(&row[3])))
        };
        let columns = [
            Id("id"),
            Id("mandate_id"),
            Text("number"),
            Text("budget_hours"),
            Text("budget_amount"),
            Text("currency"),
        ];
        let positions = world.bare(firm, "project_positions", &columns);
        let position = |row: &Vec<String>| {
            let number = row[2].parse().unwrap();
            let budgets = (some(&row[3]), some(&row[4]));
            (row[0].clone(), (row[1].clone(), number, budgets.0, budgets.1, row[5].clone()))
        };
        let mut worked: BTreeMap<String, (i64, BTreeMap<String, i64>)> = BTreeMap::new();
        let owner = world.client(firm, "owner");
        let (rows, _) = owner.every_page("list_time_entries", json!({ "kind": "mandate" }), 100);
        for row in &rows {
            let Some(operation) = row["operation_id"].as_str() else { continue };
            let work = worked.entry(operation.to_owned()).or_default();
            work.0 += row["minutes"].as_i64().unwrap();
            if let Some(currency) = row["currency"].as_str() {
                *work.1.entry(currency.to_owned()).or_default() += cents(&row["value"]);
            }
        }
        Self {
            operations: operations.iter().map(operation).collect(),
            positions: positions.iter().map(position).collect(),
            worked,
        }
    }

    /// What was worked on a position.
    fn on_position(&self, id: &str) -> (i64, BTreeMap<String, i64>) {
        let mut sum = (0, BTreeMap::new());
        for (operation, (position, ..)) in &self.operations {
            if let Some((minutes, values)) = self.worked.get(operation).filter(|_| position == id) {
                sum.0 += minutes;
                for (currency, value) in values {
                    *sum.1.entry(currency.clone()).or_insert(0) += value;
                }
            }
        }
        sum
    }
}

/// A number of an answer, in thousandths.
fn thousandths(value: &Value) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "hours of the demo are few")]
    let whole =
        (value.as_f64().unwrap_or_else(|| panic!("{value} is no number")) * 1000.0).round() as i64;
    whole
}

/// Minutes in thousandths of hours, half up.
const fn hours(minutes: i64) -> i64 {
    (minutes * 2000 + 60) / 120
}

fn amounts(values: &Value) -> BTreeMap<String, i64> {
    let one =
        |value: &Value| (value["currency"].as_str().unwrap().to_owned(), cents(&value["amount"]));
    values.as_array().unwrap().iter().map(one).collect()
}

fn phases_show_what_is_left_of_their_budgets(world: &World) {
    for firm in ["leman", "saentis"] {
        let projects = Projects::of(world, firm);
        let owner = world.client(firm, "owner");
        let (mut over, mut under, mut foreign) = (0, 0, 0);
        let mandates: std::collections::BTreeSet<_> =
            projects.positions.values().map(|position| position.0.clone()).collect();
        assert!(mandates.len() >= 10);
        for mandate in &mandates {
            let ask = json!({ "mandate_id": mandate });
            let (rows, first) = owner.every_page("list_project_positions", ask.clone(), 2);
            let of: Vec<_> =
                projects.positions.iter().filter(|(_, row)| row.0 == *mandate).collect();
            assert_eq!(rows.len(), of.len());
            let numbers: Vec<_> = rows.iter().map(|row| row["number"].as_i64().unwrap()).collect();
            assert!(numbers.is_sorted());
            let mut minutes = 0;
            for row in &rows {
                let id = row["id"].as_str().unwrap();
                let (_, number, budget_hours, budget, currency) = &projects.positions[id];
                let (worked, values) = projects.on_position(id);
                minutes += worked;
                assert_eq!(row["number"], *number);
                assert_eq!(row["worked_minutes"], worked, "{row}");
                assert_eq!(thousandths(&row["worked_hours"]), hours(worked));
                assert_eq!(amounts(&row["worked_values"]), values);
                assert_eq!(row.get("budget_hours").map(thousandths), *budget_hours);
                let left = budget_hours.map(|budget| budget - hours(worked));
                assert_eq!(row.get("remaining_hours").map(thousandths), left, "{row}");
                let is_foreign = values.keys().any(|other| other != currency);
                let used = values.get(currency).copied().unwrap_or_default();
                let left_amount = budget.filter(|_| !is_foreign).map(|budget| budget - used);
                assert_eq!(row.get("remaining_amount").map(cents), left_amount, "{row}");
                over += i32::from(left.is_some_and(|left| left < 0));
                under += i32::from(left.is_some_and(|left| left > 0) && worked > 0);
                foreign += i32::from(is_foreign);
            }
            assert_eq!(first["totals"]["worked_minutes"], minutes);
            let budgets: i64 = of.iter().filter_map(|(_, row)| row.2).sum();
            assert_eq!(thousandths(&first["totals"]["budget_hours"]), budgets);
            let mut sums: BTreeMap<String, i64> = BTreeMap::new();
            for (_, (_, _, _, budget, currency)) in &of {
                if let Some(budget) = budget {
                    *sums.entry(currency.clone()).or_default() += budget;
                }
            }
            assert_eq!(amounts(&first["totals"]["budget_amounts"]), sums);
            let done = owner
                .ask("list_project_positions", json!({ "mandate_id": mandate, "status": "done" }));
            let done = done["items"].as_array().unwrap();
            assert!(done.iter().all(|row| row["status"] == "done") && done.len() < rows.len());
        }
        assert!(over > 0 && under > 0 && foreign > 0, "{over} {under} {foreign}");
    }
}

fn work_packages_add_up_to_their_phase(world: &World) {
    let (projects, owner) = (Projects::of(world, "leman"), world.owner());
    let mut seen = 0;
    for id in projects.positions.keys() {
        let ask = json!({ "position_id": id });
        let (rows, first) = owner.every_page("list_project_operations", ask, 1);
        let of = projects.operations.iter().filter(|(_, row)| row.0 == *id);
        let mut expected: Vec<_> = of.map(|(id, row)| (row.1, id.clone())).collect();
        expected.sort_unstable();
        let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(texts(&rows, "id"), expected);
        for row in &rows {
            let operation = row["id"].as_str().unwrap();
            let (worked, values) = projects.worked.get(operation).cloned().unwrap_or_default();
            let budget = projects.operations[operation].2;
            assert_eq!(row["worked_minutes"], worked);
            assert_eq!(amounts(&row["worked_values"]), values);
            assert_eq!(row.get("budget_hours").map(thousandths), budget);
            let left = budget.map(|budget| budget - hours(worked));
            assert_eq!(row.get("remaining_hours").map(thousandths), left);
            seen += 1;
        }
        assert_eq!(first["totals"]["worked_minutes"], projects.on_position(id).0);
    }
    assert!(seen >= 20, "{seen}");
}

fn phases_and_work_packages_out_of_reach_read_like_absent(world: &World) {
    let random = "01912345-0000-7000-8000-123456789abc";
    let person = world.person("leman", "accountant");
    let (client, reached) = (world.bearer(&person.token), world.listed_mandates(&person.email));
    let mut hidden = 0;
    for firm in ["leman", "saentis"] {
        for (id, (mandate, ..)) in Projects::of(world, firm).positions {
            if reached.contains(&mandate) {
                continue;
            }
            let ask = |id: &str| {
                client.call("list_project_operations", json!({ "position_id": id })).text()
            };
            assert_eq!(ask(&id), ask(random));
            let ask = |id: &str| {
                client.call("list_project_positions", json!({ "mandate_id": id })).text()
            };
            assert_eq!(ask(&mandate), ask(random));
            hidden += 1;
        }
    }
    assert!(hidden > 5, "{hidden}");
}

fn a_client_shows_its_open_tasks(world: &World) {
    let bare = tasks(world, "leman");
    for role in ["owner", "accountant", "client_user"] {
        let client = world.client("leman", role);
        let mut seen = 0;
        for found in
            client.ask("search_clients", json!({ "limit": 100 }))["items"].as_array().unwrap()
        {
            let page = client.ask("get_client", json!({ "client_id": found["id"] }));
            let mandates = texts(page["mandates"].as_array().unwrap(), "id");
            let of = || bare.values().filter(|task| mandates.contains(&task.mandate));
            let is_open = |task: &&Task| !["done", "cancelled"].contains(&task.status.as_str());
            let open = of().filter(is_open).count();
            let overdue = of().filter(|task| task.is_overdue()).count();
            assert_eq!(page["tasks"], json!({ "open": open, "overdue": overdue }), "{role}");
            assert_eq!(page["truncated"], json!([]));
            seen += open;
        }
        assert!(seen > 0, "{role}");
    }
}

fn long_lists_say_that_they_are_cut(world: &World) {
    let client = world.owner().ask("search_clients", json!({ "query": "LEM-K002" }));
    let client = client["items"][0]["id"].as_str().unwrap().to_owned();
    let new_id = if world.database.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    let other = "(SELECT c.id FROM clients c WHERE c.number = 'LEM-K002')";
    world.sql(&format!(
        "INSERT INTO contacts SELECT k.tenant_id, {new_id}, {other}, k.full_name, NULL, NULL, NULL, k.is_primary \
         FROM contacts k, (SELECT 1 AS n UNION ALL SELECT 2) AS twice \
         WHERE k.tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')"
    ));
    let page = world.owner().ask("get_client", json!({ "client_id": client }));
    assert_eq!(page["contacts"].as_array().unwrap().len(), 100);
    assert_eq!(page["truncated"], json!(["contacts"]));
}

fn a_mandate_shows_its_fiscal_years(world: &World) {
    let owner = world.owner();
    let found = owner.ask("search_mandates", json!({ "query": "LEM-M090" }));
    let id = found["items"][0]["id"].clone();
    let new_id = if world.database.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    let of = "FROM mandates m WHERE m.number = 'LEM-M090'";
    let is_of_firm = if world.database.is_postgres() { "FALSE" } else { "0" };
    let shown = |page: &Value| -> Vec<(String, String)> {
        let years = page["fiscal_years"].as_array().unwrap().iter();
        years.map(|year| (year["label"].to_string(), year["state"].to_string())).collect()
    };
    let before = shown(&owner.ask("get_mandate", json!({ "mandate_id": id })));
    assert!(before.is_empty(), "mandate 90 keeps no books");
    world.sql(&format!("INSERT INTO ledgers SELECT m.tenant_id, m.id, 'CHF', {is_of_firm} {of}"));
    for (year, state) in [(2024, "closed"), (2025, "provisionally_closed"), (2026, "open")] {
        world.sql(&format!(
            "INSERT INTO fiscal_years SELECT m.tenant_id, {new_id}, m.id, '{year}', '{year}-01-01', '{year}-12-31', '{state}', NULL {of}"
        ));
    }
    let page = owner.ask("get_mandate", json!({ "mandate_id": id }));
    let expected = [("2026", "open"), ("2025", "provisionally_closed"), ("2024", "closed")]
        .map(|(year, state)| (format!("\"{year}\""), format!("\"{state}\"")));
    assert_eq!(shown(&page), expected);
    assert_eq!(page["truncated"], json!([]));
}
