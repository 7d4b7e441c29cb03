//! Enums stored as text: one list gives the variants, the column text, the JSON text, the schema and what each means.

/// Declares an enum whose variants are stored, sent and documented under one spelling.
macro_rules! text_enum {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[derive(diesel::AsExpression, diesel::FromSqlRow)]
        #[diesel(sql_type = diesel::sql_types::Text)]
        pub enum $name { $($(#[doc = $doc])+ #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The text that stands for the variant in columns and in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The variant that `text` spells exactly.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let meaning = concat!($("`", $text, "`:", $($doc,)+ " "),+).trim_end();
                schemars::json_schema!({
                    "type": "string",
                    "enum": [$($text),+],
                    "description": meaning,
                    "x-enumeration": {
                        "name": stringify!($name),
                        "about": concat!($($about),+).trim(),
                        "meanings": [$(concat!($($doc),+).trim()),+],
                    },
                })
            }
        }

        impl<DB: diesel::backend::Backend> diesel::serialize::ToSql<diesel::sql_types::Text, DB> for $name
        where str: diesel::serialize::ToSql<diesel::sql_types::Text, DB> {
            fn to_sql<'b>(&'b self, out: &mut diesel::serialize::Output<'b, '_, DB>) -> diesel::serialize::Result {
                self.as_str().to_sql(out)
            }
        }

        impl<DB: diesel::backend::Backend> diesel::deserialize::FromSql<diesel::sql_types::Text, DB> for $name
        where String: diesel::deserialize::FromSql<diesel::sql_types::Text, DB> {
            fn from_sql(bytes: DB::RawValue<'_>) -> diesel::deserialize::Result<Self> {
                let text = String::from_sql(bytes)?;
                Self::parse(&text).ok_or_else(|| format!("{text:?} is not a {}", stringify!($name)).into())
            }
        }
    };
}
