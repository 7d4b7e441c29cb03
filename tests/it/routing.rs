//! Descriptions route: a question finds its tool by words alone.
//!
//! The baseline is BM25 over name, description and the names of arguments, as a client does that shows a model the best few
//! of many tools. A model does better; what this one finds, every client finds.

use std::collections::BTreeSet;

use guichet::text::fold;
use serde_json::{Value, json};

use crate::world::{Database, World};

/// Words that say nothing of what is asked.
const STOPWORDS: &str = "a ai als am an and are as at au auf aus aux avec avons be bei ce ces cette dans das de dem den der des \
    did die dies diese diesem diesen dieser dieses do does du ein eine einem einen einer en es est et for from fur gib give hat \
    have how i ich il im in is ist it je la le les leur list liste mes mich mir mit mon montre moi much nach noch nos notre of on \
    ou our par pas per pour qu que quel quelle quelles quels qui show sind so sont sur the their there these this to und une uns \
    us von vom war was wer welche what when which who wie wir with you zeig zu zum";

/// The share of the questions whose tool must be among the first three, in per cent.
const ENOUGH_PERCENT: usize = 90;

/// A word without the endings that number, gender and case give it.
fn stem(word: &str) -> &str {
    let endings = ["en", "es", "er", "em", "s", "e", "n", "x"];
    let cut = endings.iter().find_map(|ending| word.strip_suffix(ending));
    cut.filter(|start| start.len() >= 4).map_or(word, stem)
}

fn words(text: &str) -> Vec<String> {
    let stopwords: BTreeSet<_> = STOPWORDS.split_whitespace().collect();
    let folded = fold(text);
    let all = folded.split(|letter: char| !letter.is_alphanumeric());
    all.filter(|word| word.len() > 1 && !stopwords.contains(word))
        .map(|word| stem(word).to_owned())
        .collect()
}

/// Whether two words are the same, or one is the compound and the other its start or end: `Lohnabrechnung` is about
/// `Abrechnung` too.
fn agree(one: &str, other: &str) -> bool {
    let (part, whole) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let is_part = part.len() >= 4 && whole.len() >= 7;
    one == other || (is_part && (whole.starts_with(part) || whole.ends_with(part)))
}

/// Tools, by name, and the words they are known by.
struct Index(Vec<(String, Vec<String>)>);

impl Index {
    /// BM25 with its usual constants; tools that share no word with the question are not ranked.
    fn ranked(&self, question: &str) -> Vec<&str> {
        let (k1, b) = (1.2, 0.75);
        let asked: BTreeSet<String> = words(question).into_iter().collect();
        let number = |count: usize| f64::from(u32::try_from(count).unwrap());
        let count = number(self.0.len());
        let average = number(self.0.iter().map(|(_, words)| words.len()).sum()) / count;
        let often = |word: &str, all: &[String]| all.iter().filter(|one| agree(word, one)).count();
        let weight = |word: &str| {
            let holding = number(self.0.iter().filter(|(_, all)| often(word, all) > 0).count());
            ((count - holding + 0.5) / (holding + 0.5) + 1.0).ln()
        };
        let score = |all: &[String]| {
            let one = |word: &String| {
                let often = number(often(word, all));
                let length = 1.0 - b + b * number(all.len()) / average;
                weight(word) * often * (k1 + 1.0) / (often + k1 * length)
            };
            asked.iter().map(one).sum::<f64>()
        };
        let scored = self.0.iter().map(|(name, all)| (score(all), name.as_str()));
        let mut ranked: Vec<_> = scored.filter(|(score, _)| *score > 0.0).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        ranked.into_iter().map(|(_, name)| name).collect()
    }
}

/// The tool that should answer, and the question.
fn questions() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("questions.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").unwrap()).collect()
}

/// What a client knows of a tool before it is shown: name, description, names of arguments.
fn known_by(tool: &Value) -> (String, Vec<String>) {
    let name = tool["name"].as_str().unwrap();
    let properties = tool["inputSchema"]["properties"].as_object().unwrap();
    let arguments: Vec<_> = properties.keys().map(String::as_str).collect();
    let description = tool["description"].as_str().unwrap();
    (name.to_owned(), words(&format!("{name} {description} {}", arguments.join(" "))))
}

#[test]
fn the_tool_that_answers_a_question_is_among_the_first_three() {
    let world = World::new(Database::sqlite());
    let listed = world.owner().rpc("tools/list", json!({})).json();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let index = Index(tools.iter().map(known_by).collect());
    let (mut asked, mut missed) = (0, vec![]);
    for (tool, question) in questions() {
        if !index.0.iter().any(|(name, _)| name == tool) {
            continue;
        }
        asked += 1;
        let ranked = index.ranked(question);
        let first: Vec<_> = ranked.into_iter().take(3).collect();
        if !first.contains(&tool) {
            missed.push(format!("{tool}: {question} → {first:?}"));
        }
    }
    let found = asked - missed.len();
    assert!(
        found * 100 >= asked * ENOUGH_PERCENT,
        "{found} of {asked} questions find their tool:\n{}",
        missed.join("\n")
    );
}

#[test]
fn every_tool_is_asked_for_in_three_ways() {
    let tools: BTreeSet<_> =
        guichet::registry::tools().map(guichet::registry::Tool::name).collect();
    for tool in tools {
        let count = questions().iter().filter(|(asked, _)| *asked == tool).count();
        assert!(count >= 3, "{tool} is asked for {count} times in questions.txt");
    }
}
