package kannel

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// maxDepth is how deep the elements of a document may lie in each other.
const maxDepth = 16

// parameterAt returns the parameter of an element, by the path of the element in the document.
func parameterAt(path string) string {
	path, ok := strings.CutPrefix(path, "/message/submit/")
	if !ok {
		return ""
	}
	switch path {
	case "from/user", "from/username", "from/pass", "from/password", "from/account", "from/binfo",
		"dcs/mclass", "dcs/mwi", "dcs/coding", "dcs/compress", "dcs/alt-dcs",
		"statusrequest/dlr-mask", "statusrequest/dlr-url":
		return path[strings.IndexByte(path, '/')+1:]
	case "udh", "smsc", "pid", "rpi", "priority", "meta-data":
		return path
	case "oa/number":
		return "from"
	case "da/number":
		return "to"
	case "ud":
		return "text"
	case "vp/delay":
		return "validity"
	case "timing/delay":
		return "deferred"
	}
	return ""
}

// readXML reads the parameters of a document, and its receivers, each of which has an element. It returns no
// parameters for a malformed document.
func readXML(body []byte) (params, []string) {
	p := params{{"charset", "UTF-8"}}
	octets := false // values are octets, written as the characters of ISO-8859-1
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(charset string, r io.Reader) (io.Reader, error) {
		p.set("charset", charset)
		octets = true
		return charmap.ISO8859_1.NewDecoder().Reader(r), nil
	}
	var receivers []string
	var text strings.Builder
	path := ""
	for {
		t, err := d.Token()
		switch {
		case err == io.EOF:
			return p, receivers
		case err != nil:
			return params{}, nil
		}
		switch t := t.(type) {
		case xml.StartElement:
			path += "/" + t.Name.Local
			text.Reset()
			if strings.Count(path, "/") > maxDepth {
				return params{}, nil
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if name := parameterAt(path); name != "" {
				value := element(name, text.String(), octets)
				if name == "to" {
					if text.Len() > 0 {
						receivers = append(receivers, value)
					}
				} else if _, given := p.get(name); !given {
					p.set(name, value)
				}
			}
			path = path[:strings.LastIndexByte(path, '/')]
			text.Reset()
		}
	}
}

// element returns the value of an element.
func element(name, text string, octets bool) string {
	if text = strings.TrimSpace(text); octets {
		text = narrow(text)
	}
	switch name {
	case "text":
		text, _ = unescape(text)
	case "udh":
		text, _ = binary(text)
	}
	return text
}

// narrow returns the octets that a text encodes as characters of ISO-8859-1. It returns a text with other characters unchanged.
func narrow(text string) string {
	b, err := charmap.ISO8859_1.NewEncoder().String(text)
	if err != nil {
		return text
	}
	return b
}
