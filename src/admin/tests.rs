use diesel::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::auth::{Permission, Permissions};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{clients, mandates};
use crate::db::{Administration, Mandates, migrate};
use crate::error::Result;
use crate::ids::{ClientId, MandateId};
use crate::language::Language;
use crate::money::Currency;

/// An office with the firm `leman`: Anna its owner, client C-1 and the mandates M-1 and M-2.
struct Office {
    owner: Administration,
    now: Instant,
    _directory: TempDir,
}

fn email(name: &str) -> Email {
    format!("{name}@leman.example").parse().unwrap()
}

impl Office {
    fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("office.db").display());
        migrate(&url, &url).unwrap();
        let owner = Administration::open(&url).unwrap();
        let now = chrono::DateTime::from_timestamp(1_767_225_600, 0).unwrap().into();
        let mut office = Self { owner, now, _directory: directory };
        office.create("leman").unwrap();
        office.add("anna", "owner", &NewReach::All).unwrap();
        office.run(seed_client).unwrap();
        office
    }

    fn run<T>(&mut self, work: impl FnOnce(&mut AnyConnection, &Firm) -> Result<T>) -> Result<T> {
        self.owner.transaction(|connection| {
            let firm = Firm::find(connection, &"leman".parse().unwrap())?;
            work(connection, &firm)
        })
    }

    fn create(&mut self, slug: &str) -> Result<()> {
        let now = self.now;
        let new = NewFirm {
            slug: &slug.parse().unwrap(),
            name: "Fiduciaire du Léman SA",
            uid: None,
            email: "",
            phone: "",
            street: "",
            house_number: "",
            postal_code: "",
            town: "",
            country: "CH",
            iban: None,
            qr_iban: None,
            time_zone: chrono_tz::Tz::Europe__Zurich,
            currency: Currency::Chf,
            payment_term_days: 30,
        };
        self.owner.transaction(|connection| create_firm(connection, &new, now))
    }

    fn add(&mut self, name: &str, role: &str, reach: &NewReach) -> Result<()> {
        let now = self.now;
        let (email, line) = (email(name), name.parse().unwrap());
        let (password, language) = (NewPassword::Without, Language::French);
        let new = NewMember { email: &email, name: &line, role, language, reach, password };
        self.run(|connection, firm| add_member(connection, firm, &new, now))
    }

    fn member(&mut self, name: &str) -> MemberRow {
        let rows = self.run(|connection, firm| list_members(connection, Some(firm))).unwrap();
        rows.into_iter().find(|row| row.email == email(name).as_str()).unwrap()
    }

    fn token(&mut self, name: &str, scopes: &[&str]) -> Result<Permissions> {
        let now = self.now;
        let scopes: Vec<_> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let ends = now.plus_seconds(3_600);
        let line = "Laptop".parse().unwrap();
        let new = NewToken { name: &line, scopes: &scopes, expires_at: Some(ends) };
        let made =
            |connection: &mut _, firm: &_| create_token(connection, firm, &email(name), &new, now);
        Ok(self.run(made)?.1)
    }
}

fn seed_client(connection: &mut AnyConnection, firm: &Firm) -> Result<()> {
    let now = chrono::DateTime::from_timestamp(1_767_225_600, 0).unwrap().into();
    let client = ClientId::at(now);
    let row = (
        clients::tenant_id.eq(firm.id),
        clients::id.eq(client),
        clients::number.eq("C-1"),
        clients::name.eq("Rösti AG"),
        clients::legal_form.eq("company_limited_by_shares"),
        clients::status.eq("active"),
        clients::language.eq("de"),
        clients::sort_name.eq("rosti ag"),
        clients::search_text.eq("rosti ag"),
        clients::created_at.eq(now),
    );
    diesel::insert_into(clients::table).values(row).execute(connection)?;
    for number in ["M-1", "M-2"] {
        let row = (
            mandates::tenant_id.eq(firm.id),
            mandates::id.eq(MandateId::at(now)),
            mandates::client_id.eq(client),
            mandates::number.eq(number),
            mandates::title.eq("Accounting"),
            mandates::kind.eq("accounting"),
            mandates::status.eq("active"),
            mandates::starts_on.eq(Day::parse("2026-01-01").unwrap()),
            mandates::billing.eq("hourly"),
            mandates::currency.eq(Currency::Chf),
            mandates::fiscal_year_end_month.eq(12),
            mandates::vat_method.eq("not_liable"),
            mandates::search_text.eq("accounting"),
            mandates::created_at.eq(now),
        );
        diesel::insert_into(mandates::table).values(row).execute(connection)?;
    }
    Ok(())
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T>) -> String {
    match outcome.unwrap_err() {
        crate::error::Error::Refused(refusal) => refusal.message,
        fault @ crate::error::Error::Failed(_) => panic!("{fault:?}"),
    }
}

fn listed(numbers: &[&str]) -> NewReach {
    NewReach::Listed(numbers.iter().map(|number| (*number).to_owned()).collect())
}

#[test]
fn a_new_firm_has_the_seeded_roles() {
    let mut office = Office::open();
    let roles = office.run(roles_of).unwrap();
    let seeded = seeded_roles();
    assert_eq!(roles.len(), seeded.len());
    for (found, seeded) in roles.iter().zip(&seeded) {
        assert_eq!((&found.name, found.permissions), (&seeded.name, seeded.permissions));
    }
    assert!(refusal(office.create("leman")).contains("already"));
}

#[test]
fn a_person_of_two_firms_is_one_person() {
    let mut office = Office::open();
    office.create("rhein").unwrap();
    let now = office.now;
    let new = NewMember {
        email: &email("anna"),
        name: &"A. Rochat".parse().unwrap(),
        role: "auditor",
        language: Language::English,
        reach: &NewReach::All,
        password: NewPassword::Unsaid,
    };
    let rows = office.owner.transaction(|connection| {
        let firm = Firm::find(connection, &"rhein".parse().unwrap())?;
        add_member(connection, &firm, &new, now)?;
        list_members(connection, None)
    });
    let names: Vec<_> = rows.unwrap().into_iter().map(|row| (row.tenant, row.name)).collect();
    let expected = [("leman", "anna"), ("rhein", "A. Rochat")];
    assert_eq!(names, expected.map(|(slug, name)| (slug.to_owned(), name.to_owned())));
    let shut = office.owner.transaction(|connection| {
        set_standing(connection, &Place::Everywhere, &email("anna"), Standing::Inactive)
    });
    assert!(refusal(shut).contains("last active owner of leman"));
}

#[test]
fn a_language_is_that_of_a_place_and_changes_there() {
    let mut office = Office::open();
    assert_eq!(office.member("anna").language, Language::French);
    office
        .run(|connection, firm| set_language(connection, firm, &email("anna"), Language::German))
        .unwrap();
    assert_eq!(office.member("anna").language, Language::German);
}

#[test]
fn a_refused_command_leaves_nothing_behind() {
    let mut office = Office::open();
    let missing = refusal(office.add("luc", "accountant", &listed(&["M-1", "M-9", "M-8"])));
    assert_eq!(missing, "leman has no mandate M-9, M-8; check the number");
    let role = refusal(office.add("luc", "Accountant", &NewReach::All));
    assert!(role.contains("choose one of owner, manager, accountant,"));
    let client = refusal(office.add("luc", "client_user", &NewReach::Client("C-9".to_owned())));
    assert_eq!(client, "leman has no client C-9; check the number");
    office.add("luc", "accountant", &listed(&["M-2", "M-1", "M-2"])).unwrap();
    assert_eq!(office.member("luc").mandates, ["M-1", "M-2"]);
    assert!(refusal(office.add("luc", "manager", &NewReach::All)).contains("as accountant"));
    assert_eq!(office.member("luc").role, "accountant");
}

#[test]
fn a_reach_replaces_the_one_before() {
    let mut office = Office::open();
    office.add("luc", "accountant", &listed(&["M-1"])).unwrap();
    for (reach, kind, numbers, client) in [
        (listed(&["M-2"]), Mandates::Listed, vec!["M-2"], None),
        (NewReach::Client("C-1".to_owned()), Mandates::Client, vec![], Some("C-1")),
        (NewReach::All, Mandates::All, vec![], None),
        (listed(&[]), Mandates::Listed, vec![], None),
    ] {
        office.run(|connection, firm| set_reach(connection, firm, &email("luc"), &reach)).unwrap();
        let row = office.member("luc");
        assert_eq!(
            (row.reach, row.mandates, row.client.as_deref()),
            (kind, numbers.into_iter().map(str::to_owned).collect(), client)
        );
    }
}

#[test]
fn a_firm_keeps_an_active_owner() {
    let mut office = Office::open();
    office.add("luc", "manager", &NewReach::All).unwrap();
    let demote =
        |connection: &mut _, firm: &_| set_role(connection, firm, &email("anna"), "manager");
    let shut = |connection: &mut _, firm: &Firm| {
        let place = Place::Firm(firm.clone());
        set_standing(connection, &place, &email("anna"), Standing::Inactive)
    };
    assert!(refusal(office.run(demote)).contains("last active owner"));
    assert!(refusal(office.run(shut)).contains("last active owner"));
    office.run(|connection, firm| set_role(connection, firm, &email("luc"), "owner")).unwrap();
    office.run(shut).unwrap();
    assert_eq!(office.member("anna").state, Standing::Inactive);
    let other = |connection: &mut _, firm: &_| set_role(connection, firm, &email("luc"), "manager");
    assert!(refusal(office.run(other)).contains("last active owner"));
}

#[test]
fn a_token_holds_no_more_than_the_role_of_its_person() {
    let mut office = Office::open();
    office.add("mia", "client_user", &NewReach::Client("C-1".to_owned())).unwrap();
    let read = office.token("mia", &["read"]).unwrap();
    assert_eq!(read.to_string(), "client.read mandate.read task.read invoice.read document.read");
    let named = office.token("mia", &["client.read"]).unwrap();
    assert_eq!(named, [Permission::ClientRead].into_iter().collect());
    let beyond = refusal(office.token("mia", &["client.read", "ledger.read"]));
    assert!(beyond.contains("client_user does not grant ledger.read"), "{beyond}");
    assert!(refusal(office.token("mia", &["propose"])).contains("grants nothing of propose"));
    assert!(refusal(office.token("mia", &["user.admin"])).contains("no scope"));
    assert!(refusal(office.token("mia", &[""])).contains("no scope"));
}

#[test]
fn a_token_is_revoked_by_what_names_it_alone() {
    let mut office = Office::open();
    office.token("anna", &["read"]).unwrap();
    let now = office.now;
    let tokens =
        |office: &mut Office, at| office.run(|c, firm| list_tokens(c, firm, None, at)).unwrap();
    let [token] = &tokens(&mut office, now)[..] else { panic!("one token") };
    let (id, suffix) = (token.id.to_string(), token.token.rsplit('…').next().unwrap().to_owned());
    let later = tokens(&mut office, now.plus_seconds(3_600));
    assert_eq!(later[0].state.as_str(), "expired");
    let revoke = |office: &mut Office, named: &str| {
        office.run(|connection, firm| revoke_token(connection, firm, named, now))
    };
    for other in ["", "…", &suffix[1..], "gct_", "01900000-0000-7000-8000-000000000000"] {
        assert!(refusal(revoke(&mut office, other)).contains("has no token"), "{other}");
    }
    revoke(&mut office, &suffix).unwrap();
    assert!(refusal(revoke(&mut office, &id)).contains("revoked already"));
    assert_eq!(tokens(&mut office, now)[0].state.as_str(), "revoked");
}
