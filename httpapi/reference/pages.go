package reference

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"sync"

	"pmg/internal/browser"
	"pmg/protocols/httpsms/own"
)

//go:embed templates
var templateFiles embed.FS

// Path is the path of the page, Static the beginning of the paths of the files that it loads.
const (
	Path   = "/v1/docs"
	Static = Path + "/static/"
)

// standIn stands in the page for the address of the gateway, which the request names.
const standIn = "http://gateway.invalid"

// Pages are the pages about the API.
type Pages struct {
	site browser.Site
	page func() []byte // the page for people, which is made when it is first wanted
}

// New returns the pages of a contract (OpenAPI 3.1).
func New(openapi []byte) *Pages {
	p := &Pages{site: browser.NewSite(Path+"/", "PMG", templateFiles)}
	p.page = sync.OnceValue(func() []byte {
		b, err := p.render(openapi)
		if err != nil {
			return fmt.Appendf(nil, "the contract cannot be shown: %v", err) // a test checks that it can
		}
		return b
	})
	return p
}

// A view is what the template of the page shows.
type view struct {
	browser.Frame
	*contract
	Operations []section
	Calls      []operation
	Kinds      []own.Kind
}

// A section is what the page has of an operation: its description, and examples.
type section struct {
	*operation
	Examples []example
}

// render makes the page.
func (p *Pages) render(openapi []byte) ([]byte, error) {
	v := view{contract: &contract{}, Kinds: own.Kinds()}
	if err := json.Unmarshal(openapi, v.contract); err != nil {
		return nil, err
	}
	operations, err := v.operations(v.Paths)
	if err != nil {
		return nil, err
	}
	if v.Calls, err = v.operations(v.Webhooks); err != nil {
		return nil, err
	}
	for i := range operations {
		examples, err := operations[i].examples(standIn)
		if err != nil {
			return nil, err
		}
		v.Operations = append(v.Operations, section{&operations[i], examples})
	}
	v.Frame = p.site.Frame(&browser.Page{Title: v.Info.Title + ": the API"}, nil)
	return p.site.Render("docs", &v)
}

// Docs returns the page of the contract, for the address that a request names.
func (p *Pages) Docs(r *http.Request) []byte {
	return bytes.ReplaceAll(p.page(), []byte(standIn), []byte(origin(r)))
}

// host matches the names and addresses that may stand in the page. All others could end a literal of an example.
var host = regexp.MustCompile(`^(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?$`)

// origin returns the address of the gateway, as the client of a request knows it.
func origin(r *http.Request) string {
	scheme, name := "http", r.Host
	if browser.IsSecure(r) {
		scheme = "https"
	}
	if !host.MatchString(name) {
		name = "localhost:8080"
	}
	return scheme + "://" + name
}

// Problem returns the page of the kind of problems that the path of a request names, nil if there is no such kind.
func (p *Pages) Problem(r *http.Request) []byte {
	for _, k := range own.Kinds() {
		if k.Name != r.PathValue("name") {
			continue
		}
		b, err := p.site.Render("problem", struct {
			browser.Frame
			Kind own.Kind
		}{p.site.Frame(&browser.Page{Title: k.Title}, nil), k})
		if err != nil {
			return []byte(err.Error()) // a test renders all of them
		}
		return b
	}
	return nil
}

// Files returns the handler of the files that the pages load.
func (p *Pages) Files() http.Handler { return p.site.Static() }
