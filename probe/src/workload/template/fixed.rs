//! Messages that exo's client and server write by code, whatever chat template the model's folder holds.

/// One user message, as the code writes it.
#[derive(Debug)]
pub(crate) struct Encoding {
    /// What a result file says in place of a template's file.
    pub(super) name: &'static str,
    /// Parts of the id that tell the family, in small letters; exo's server goes by these very ones.
    families: &'static [&'static str],
    before: &'static str,
    after: &'static str,
}

impl Encoding {
    /// The whole text around what the user says.
    pub(super) fn render(&self, content: &str) -> String {
        [self.before, content, self.after].concat()
    }
}

/// Thinking, which is the default of exo's server and client where a request says nothing about it.
const DEEPSEEK: Encoding = Encoding {
    name: "fixed: deepseek",
    families: &["deepseek-v3.2", "deepseek-v4"],
    before: "<｜begin▁of▁sentence｜><｜User｜>",
    after: "<｜Assistant｜><think>",
};

/// The encoding of a model's family; `None` for the many that go by their chat template.
pub(super) fn of(model_id: &str) -> Option<&'static Encoding> {
    let id = model_id.to_lowercase();
    DEEPSEEK.families.iter().any(|family| id.contains(family)).then_some(&DEEPSEEK)
}
