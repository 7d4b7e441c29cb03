//! The passage of a text where a searched word stands.

use crate::text::fold;

/// Characters of a passage at most.
const LONGEST: usize = 200;
/// Characters shown before the word.
const BEFORE: usize = 60;

/// The passage of `text` around the first of the folded `words` that it contains: at most 200 characters, and never more
/// than half of the text.
pub(super) fn snippet(text: &str, words: &[String]) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let (folded, origins) = folded(&letters);
    let found = words.iter().filter_map(|word| folded.find(word.as_str())).min()?;
    let at = *origins.get(found)?;
    let most = LONGEST.min(letters.len() / 2);
    if most < 3 {
        return None;
    }
    let from = at.saturating_sub(BEFORE.min(most / 3));
    let is_cut_before = from > 0;
    let room = most - usize::from(is_cut_before);
    let is_cut_after = letters.len() - from > room;
    let room = room - usize::from(is_cut_after);
    let passage: String = letters.iter().skip(from).take(room).collect();
    let passage = passage.replace(['\n', '\t', '\r'], " ");
    let (before, after) =
        (if is_cut_before { "…" } else { "" }, if is_cut_after { "…" } else { "" });
    Some(format!("{before}{passage}{after}"))
}

/// The letters folded one by one, single spaces between words, and for each byte of that which letter it came from.
fn folded(letters: &[char]) -> (String, Vec<usize>) {
    let (mut text, mut origins) = (String::new(), vec![]);
    let mut buffer = [0; 4];
    for (at, letter) in letters.iter().enumerate() {
        let one = match letter {
            letter if letter.is_ascii_graphic() => letter.to_ascii_lowercase().to_string(),
            letter if letter.is_whitespace() || letter.is_control() => " ".to_owned(),
            letter => fold(letter.encode_utf8(&mut buffer)),
        };
        if one == " " && (text.is_empty() || text.ends_with(' ')) {
            continue;
        }
        origins.extend(std::iter::repeat_n(at, one.len()));
        text.push_str(&one);
    }
    (text, origins)
}

#[cfg(test)]
mod tests {
    use super::snippet;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_passage_shows_the_word_and_keeps_to_its_length() {
        let text = format!("{} Échéance à Zürich {}", "avant ".repeat(80), "après ".repeat(80));
        for word in ["echeance", "zurich"] {
            let passage = snippet(&text, &words(word)).unwrap();
            assert!(passage.chars().count() <= 200, "{passage}");
            assert!(passage.contains("Échéance à Zürich"), "{passage}");
            assert!(passage.starts_with('…') && passage.ends_with('…'), "{passage}");
        }
        assert_eq!(snippet(&text, &words("absent")), None);
    }

    #[test]
    fn a_passage_is_never_the_whole_text() {
        let passage = snippet("Quittance de loyer", &words("quittance")).unwrap();
        assert_eq!(passage, "Quittanc…");
        assert_eq!(snippet("abc", &words("abc")), None);
        assert_eq!(snippet("", &words("abc")), None);
    }

    #[test]
    fn the_first_of_the_words_counts_whatever_their_order() {
        let text = format!("alpha {} beta", "x ".repeat(300));
        assert!(snippet(&text, &words("beta alpha")).unwrap().starts_with("alpha"));
        assert!(
            snippet("Straße\u{200b}   der\nRosen und noch viel mehr davon", &words("strasse"))
                .is_some()
        );
    }
}
