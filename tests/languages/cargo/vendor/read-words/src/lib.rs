//! Derives how the words of a protocol are read.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// For an enum without data the function `read`, from a word in capitals to its variant.
#[proc_macro_derive(ReadWord)]
pub fn read_word(item: TokenStream) -> TokenStream {
    let (mut name, mut variants) = (String::new(), Vec::new());
    let mut before = String::new();
    for token in item {
        match token {
            TokenTree::Ident(ident) => {
                if before == "enum" {
                    name = ident.to_string();
                }
                before = ident.to_string();
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                variants = group.stream().into_iter().filter_map(identifier).collect();
            }
            _ => {}
        }
    }
    let arms: String = variants
        .iter()
        .map(|variant| format!("\"{}\" => Some(Self::{variant}),", variant.to_uppercase()))
        .collect();
    format!("impl {name} {{ fn read(word: &str) -> Option<Self> {{ match word {{ {arms} _ => None }} }} }}")
        .parse()
        .unwrap()
}

fn identifier(token: TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}
