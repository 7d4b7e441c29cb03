//! What a request leaves of the catalogue: `?toolsets=billing,payroll` and `?read_only=true`.

use url::form_urlencoded;

use super::{Tool, toolset_names};
use crate::auth::Caller;

/// What a request asks to be left of the catalogue; everything by default. It takes away, and never adds.
#[derive(Debug, Clone, Default)]
pub struct Narrowing {
    /// The toolsets that are left; all of them if absent.
    toolsets: Option<Vec<&'static str>>,
    is_read_only: bool,
}

impl Narrowing {
    /// Reads the query of an address. A parameter that is not known is refused: whoever means to narrow must not be
    /// shown everything for a slip of the pen.
    ///
    /// # Errors
    /// What is wrong, in words that name what is known.
    pub fn parse(query: &str) -> Result<Self, String> {
        let (mut toolsets, mut is_read_only) = (None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_repeated = match &*name {
                "toolsets" => toolsets.replace(parse_toolsets(&value)?).is_some(),
                "read_only" => is_read_only.replace(parse_read_only(&value)?).is_some(),
                _ => {
                    let name = short(&name);
                    return Err(format!(
                        "unknown parameter {name:?}; known are toolsets, read_only"
                    ));
                }
            };
            if is_repeated {
                return Err(format!("{name} is given twice"));
            }
        }
        Ok(Self { toolsets, is_read_only: is_read_only.unwrap_or_default() })
    }

    fn keeps(&self, toolset: &str, tool: &Tool) -> bool {
        let is_asked = self.toolsets.as_ref().is_none_or(|asked| asked.contains(&toolset));
        (is_asked || tool.is_in_every_toolset) && (tool.is_reading || !self.is_read_only)
    }
}

fn parse_toolsets(value: &str) -> Result<Vec<&'static str>, String> {
    let one = |asked: &str| {
        let known = toolset_names().into_iter().find(|known| *known == asked.trim());
        known.ok_or_else(|| {
            let names = toolset_names().join(", ");
            format!("unknown toolset {:?}; known are {names}", short(asked))
        })
    };
    value.split(',').map(one).collect()
}

fn parse_read_only(value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| format!("read_only must be true or false, not {:?}", short(value)))
}

/// The start of what a caller sent, for a message.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// What a caller sees of the catalogue in one request.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    caller: &'a Caller,
    narrowing: &'a Narrowing,
}

impl<'a> View<'a> {
    /// What the caller's role grants, as far as the request asks for it.
    #[must_use]
    pub const fn new(caller: &'a Caller, narrowing: &'a Narrowing) -> Self {
        Self { caller, narrowing }
    }

    /// The caller.
    #[must_use]
    pub const fn caller(self) -> &'a Caller {
        self.caller
    }

    /// The one predicate: what it allows is listed and can be called; what it does not, does not exist.
    pub(super) fn shows(self, toolset: &str, tool: &Tool) -> bool {
        tool.is_open_to(self.caller) && self.narrowing.keeps(toolset, tool)
    }
}

#[cfg(test)]
mod tests {
    use super::Narrowing;

    #[test]
    fn an_address_narrows_by_known_names_only() {
        for good in
            ["", "toolsets=billing,payroll", "read_only=true&toolsets=firm", "read_only=false"]
        {
            assert!(Narrowing::parse(good).is_ok(), "{good}");
        }
        for (query, said) in [
            ("toolsets=nonsense", "unknown toolset \"nonsense\"; known are firm, clients, "),
            ("toolsets=", "unknown toolset \"\"; known are firm, clients, "),
            ("toolsets=billing,,firm", "unknown toolset \"\"; known are firm, clients, "),
            ("toolsets=Billing", "unknown toolset \"Billing\"; known are firm, clients, "),
            ("toolsets=firm&toolsets=firm", "toolsets is given twice"),
            ("read_only=true&read_only=true", "read_only is given twice"),
            ("read_only=1", "read_only must be true or false, not \"1\""),
            ("read_only", "read_only must be true or false, not \"\""),
            ("toolset=firm", "unknown parameter \"toolset\"; known are toolsets, read_only"),
        ] {
            let refusal = Narrowing::parse(query).unwrap_err();
            assert!(refusal.starts_with(said), "{query}: {refusal}");
        }
    }
}
