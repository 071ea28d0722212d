package page

import (
	"bytes"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"synod.dev/synod/core/clean"
)

// renderer reads Markdown with tables and strikethrough. HTML in it is left out.
var renderer = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Strikethrough,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))))
})

// sanitiser lets pass what Markdown needs and nothing that loads or runs anything. It is applied to the HTML that
// was rendered, so it does not depend on how the renderer reads a text.
var sanitiser = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h4", "h5",
		"h6", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
})

// maxMarkdown bounds what is rendered; longer texts are shown as they are.
const maxMarkdown = 128 << 10

// picture finds the images of rendered Markdown, heading its headings, and anchor its links.
var (
	picture = regexp.MustCompile(`(?s)<img[^>]*?alt="([^"]*)"[^>]*>`)
	heading = regexp.MustCompile(`<(/?)h[1-3]\b`)
	anchor  = regexp.MustCompile(`(?s)<a href="([^"]*)"([^>]*)>(.*?)</a>`)
)

// markdown renders a text of a member: no HTML of its own, no image, headings below those of the page, and links
// with the host that they lead to.
func markdown(text string) template.HTML {
	if len(text) > maxMarkdown {
		return ""
	}
	return template.HTML(clean.Escape(rendered(clean.Escape(text)))) // again, for characters written as entities
}

// rendered renders a text without characters that cannot be seen.
func rendered(text string) string {
	var b bytes.Buffer
	if err := renderer().Convert([]byte(text), &b); err != nil {
		return ""
	}
	out := picture.ReplaceAllString(b.String(), "<em>[image: $1]</em>")
	out = heading.ReplaceAllString(out, "<${1}h4")
	return anchor.ReplaceAllStringFunc(sanitiser().Sanitize(out), withHost)
}

// withHost writes the host of a link after its text.
func withHost(link string) string {
	m := anchor.FindStringSubmatch(link)
	u, err := url.Parse(html.UnescapeString(m[1]))
	if err != nil {
		return m[3]
	}
	where := u.Host
	if where == "" {
		where = u.Scheme + ":" + u.Opaque
	}
	return `<a class="away" href="` + m[1] + `"` + m[2] + `>` + m[3] + `</a> <small class="host">[` +
		html.EscapeString(clean.Escape(strings.ToValidUTF8(where, "�"))) + `]</small>`
}
