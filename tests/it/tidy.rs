//! What the style guide asks of the source itself.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(directory: &str) -> Vec<(PathBuf, String)> {
    let mut found = vec![];
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("node_modules") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn no_file_has_more_than_five_hundred_lines() {
    for directory in ["src", "tests"] {
        for (path, text) in sources(directory) {
            assert!(text.lines().count() <= 500, "{}: {}", path.display(), text.lines().count());
        }
    }
}

/// The slices of the domain: the modules of `src` that have tools, but for the reports that all of them share.
fn slices() -> Vec<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let has_tools = |path: &Path| {
        fs::read_to_string(path.join("mod.rs"))
            .is_ok_and(|text| text.contains("pub const TOOLS: &[Tool]"))
    };
    let found = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path());
    let slices = found.filter(|path| !path.ends_with("reports") && has_tools(path));
    let slices: Vec<String> =
        slices.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(slices.len() >= 9, "{slices:?}");
    slices
}

#[test]
fn a_bare_table_stands_only_where_it_cannot_leave_the_reach() {
    // What posts, imports and seeds writes through a connection; what reads has a scope.
    let sliced = slices().into_iter().flat_map(|slice| sources(&format!("src/{slice}")));
    for (path, text) in sliced.filter(|(_, text)| !text.contains("AnyConnection")) {
        for (number, line) in text.lines().enumerate() {
            let mut rest = line;
            while let Some(at) = rest.find("::table") {
                let before = &rest[..at];
                let opening = before.rfind('(').map_or("", |open| &before[..open]);
                let is_scoped = [
                    ".rows",
                    "Contains::all",
                    ".by_hand",
                    "Filters::on",
                    "inner_join",
                    "left_join",
                    "insert_into",
                ]
                .iter()
                .any(|door| opening.ends_with(door));
                let is_type = line.contains("Filters<") || line.contains("type Table");
                assert!(is_scoped || is_type, "{}:{}: {line}", path.display(), number + 1);
                rest = &rest[at + "::table".len()..];
            }
        }
    }
}

#[test]
fn a_slice_knows_no_http_and_the_platform_no_noun_of_the_domain() {
    for (path, text) in slices().iter().flat_map(|slice| sources(&format!("src/{slice}"))) {
        assert!(!text.contains("actix") && !text.contains("crate::http"), "{}", path.display());
    }
    for (path, text) in sources("src/http") {
        for slice in slices() {
            let noun = format!("crate::{slice}::");
            assert!(!text.contains(&noun), "{}: {noun}", path.display());
        }
    }
}

#[test]
fn every_setting_is_in_the_table_of_settings() {
    let config =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config.rs")).unwrap();
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md"))
        .unwrap();
    let mut settings = 0;
    for part in config.split("env = \"").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(docs.contains(&format!("`{name}`")), "docs/operations.md lacks {name}");
        settings += 1;
    }
    assert!(settings > 10, "{settings}");
}
