//! Pictures as files: SVG, and PNG and PDF converted from it.
//!
//! PNG and PDF use the font Arimo, which is part of the program, so a picture looks the same on
//! every machine, with or without fonts. Arimo has the widths of Helvetica and Arial, for which
//! figures are laid out.

use std::path::Path;

/// A format of picture files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum PictureFormat {
    /// Vector graphics for browsers.
    Svg,
    /// Pixels, about 300 per inch.
    Png,
    /// Vector graphics for papers, with text as outlines.
    Pdf,
}

impl PictureFormat {
    /// Returns the format for the extension of a file name; SVG without an extension.
    ///
    /// # Errors
    /// If the extension is not supported.
    pub(super) fn of(file: &Path) -> Result<PictureFormat, String> {
        let ending = file.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            None | Some("svg") => Ok(PictureFormat::Svg),
            Some("png") => Ok(PictureFormat::Png),
            Some("pdf") => Ok(PictureFormat::Pdf),
            Some(other) => Err(format!(
                "{}: expected the extension .svg, .png or .pdf, found .{other}",
                file.display()
            )),
        }
    }

    /// Returns the extension of its files.
    pub(super) fn ending(self) -> &'static str {
        match self {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
            PictureFormat::Pdf => "pdf",
        }
    }

    /// Converts a picture to this format.
    ///
    /// # Errors
    /// If this program was built without support for the format.
    pub(super) fn bytes(self, svg: &str) -> anyhow::Result<Vec<u8>> {
        match self {
            PictureFormat::Svg => Ok(svg.as_bytes().to_vec()),
            PictureFormat::Png => png(svg),
            PictureFormat::Pdf => pdf(svg),
        }
    }
}

#[cfg(feature = "pictures")]
mod drawn {
    use std::sync::Arc;

    use resvg::usvg::{Options, Tree, WriteOptions, fontdb};

    const LETTERS: &[u8] = include_bytes!("../fonts/Arimo-Regular.ttf");
    /// Pixels of a PNG per unit of the picture, which is a point: 72 per inch.
    const DENSITY: f32 = 4.0;

    fn tree(svg: &str) -> anyhow::Result<Tree> {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(LETTERS.to_vec());
        fonts.set_sans_serif_family("Arimo");
        let options = Options {
            font_family: "Arimo".to_owned(),
            fontdb: Arc::new(fonts),
            ..Options::default()
        };
        Ok(Tree::from_str(svg, &options)?)
    }

    pub(super) fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
        let tree = tree(svg)?;
        let size = tree.size().to_int_size();
        let size = size.scale_by(DENSITY).unwrap_or(size);
        let mut dots = resvg::tiny_skia::Pixmap::new(size.width(), size.height())
            .ok_or_else(|| anyhow::anyhow!("the picture is empty or too large"))?;
        // The picture may cover only a part of the last row, which must be white too.
        dots.fill(resvg::tiny_skia::Color::WHITE);
        let scale = resvg::tiny_skia::Transform::from_scale(DENSITY, DENSITY);
        resvg::render(&tree, scale, &mut dots.as_mut());
        Ok(dots.encode_png()?)
    }

    pub(super) fn pdf(svg: &str) -> anyhow::Result<Vec<u8>> {
        // Letters become outlines: embedding the font would need a font compiler, as much code as
        // the rest.
        let outlined = tree(svg)?.to_string(&WriteOptions::default());
        let page = svg2pdf::PageOptions { dpi: 96.0 };
        svg2pdf::to_pdf(
            &tree(&outlined)?,
            svg2pdf::ConversionOptions::default(),
            page,
        )
        .map_err(|error| anyhow::anyhow!("cannot write a PDF: {error}"))
    }
}

#[cfg(feature = "pictures")]
use drawn::{pdf, png};

#[cfg(not(feature = "pictures"))]
fn png(_: &str) -> anyhow::Result<Vec<u8>> {
    anyhow::bail!("this netloom was built without the feature `pictures`, and supports only SVG")
}

#[cfg(not(feature = "pictures"))]
fn pdf(svg: &str) -> anyhow::Result<Vec<u8>> {
    png(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_name_says() {
        let of = |name: &str| PictureFormat::of(Path::new(name));
        assert_eq!(of("a.svg"), Ok(PictureFormat::Svg));
        assert_eq!(of("a.PNG"), Ok(PictureFormat::Png));
        assert_eq!(of("a.b/c.pdf"), Ok(PictureFormat::Pdf));
        assert!(of("a.jpg").unwrap_err().contains("found .jpg"));
    }

    #[cfg(feature = "pictures")]
    #[test]
    fn pictures_have_letters_and_colours_without_any_font_of_the_system() {
        let svg = |text: &str| {
            format!(
                r##"<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36" font-family="Helvetica, sans-serif"><rect width="72" height="36" fill="#ffffff"/><text x="5" y="20" font-size="8" fill="#111">{text}</text></svg>"##
            )
        };
        let bytes = |text: &str| PictureFormat::Png.bytes(&svg(text)).unwrap();
        assert_eq!(&bytes("µs 10⁻⁶ →")[1..4], b"PNG");
        assert_ne!(bytes("load"), bytes(""), "letters are drawn");
        let pdf = PictureFormat::Pdf.bytes(&svg("load")).unwrap();
        assert!(pdf.starts_with(b"%PDF-"));
    }
}
