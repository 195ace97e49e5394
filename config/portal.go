package config

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"pmg/internal/texts"
	"pmg/protocols/httpsms"
)

// checkPortal checks the options of pages for customers, and warns of pages without TLS, on which others can read passwords.
func checkPortal(d *decoder, c *Connector, path string) {
	if c.Transport() != ByRequest {
		return
	}
	checkBrand(d, c, path)
	checkPortalURL(d, c, path)
	checkPortalTexts(d, c, path)
	if !c.HTTP.Portal || c.TLS.Enabled || len(c.Proxies) > 0 {
		return
	}
	for _, address := range c.AllAddresses() {
		host, _, err := net.SplitHostPort(address)
		if ip, ok := hostAddress(host); err == nil && !(ok && ip.IsLoopback()) {
			d.warn(path+".portal", "is plain, so that whoever is in between reads passwords: set tls")
			return
		}
	}
}

// checkPortalURL checks the address at which browsers find the pages.
func checkPortalURL(d *decoder, c *Connector, path string) {
	if c.HTTP.PortalURL == "" {
		return
	}
	if !c.HTTP.Portal {
		d.warn(path+".portal_url", "has no effect without portal: true")
	}
	at, err := url.Parse(c.HTTP.PortalURL)
	if err != nil {
		at = &url.URL{}
	}
	switch {
	case at.Host == "", at.Scheme != "https" && at.Scheme != "http", at.User != nil, at.RawQuery+at.Fragment != "",
		strings.Trim(at.Path, "/") != "":
		d.problem(
			path+".portal_url", "must be an address without a path, such as https://sms.example.net, not %q", c.HTTP.PortalURL,
		)
	case at.Scheme == "http" && !isLoopbackHost(at.Hostname()):
		d.problem(
			path+".portal_url",
			"must begin with https://, because whoever is in between would read the links for new passwords",
		)
	}
}

// checkPortalTexts reads and checks the files with texts of the pages.
func checkPortalTexts(d *decoder, c *Connector, path string) {
	c.HTTP.SetTexts(nil)
	dir := resolve(d.dir, c.HTTP.PortalTexts)
	if c.HTTP.PortalTexts = dir; dir == "" {
		return
	}
	if path += ".portal_texts"; !c.HTTP.Portal {
		d.warn(path, "has no effect without portal: true")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		d.problem(path, "must be a directory that can be read: %v", err)
		return
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || strings.HasPrefix(e.Name(), ".") {
			continue // such as what an editor leaves behind
		}
		if len(files) == texts.MostFiles {
			d.problem(path, "must have %d files at most", texts.MostFiles)
			return
		}
		data, err := readFile(filepath.Join(dir, e.Name()), texts.MostOctets)
		if err != nil {
			d.problem(path, "has %s, which cannot be read: %v", e.Name(), err)
			return
		}
		files[e.Name()] = []byte(data)
	}
	all, problems := texts.Shipped().With(files)
	for _, p := range problems {
		d.problem(path, "%s: %s", p.File, p.Text)
	}
	if c.HTTP.SetTexts(all); len(files) == 0 {
		d.warn(path, "has no files such as fr.json")
	}
}

// Limits of the brand.
const (
	maxBrandName = 64
	maxPicture   = 64 << 10
	maxPixels    = 2048 // of a side
)

var colourForm = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$`)

// checkBrand checks name and colour of the pages for customers, and reads their picture.
func checkBrand(d *decoder, c *Connector, path string) {
	b := &c.HTTP.Brand
	if *b.Picture() = (httpsms.Picture{}); !c.HTTP.Portal && b.Name+b.Logo+b.Colour != "" {
		d.warn(path+".brand", "has no effect without portal: true")
	}
	if len(b.Name) > maxBrandName || strings.ContainsFunc(b.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		d.problem(path+".brand.name", "must be printable, of %d octets at most", maxBrandName)
	}
	if b.Colour != "" && !colourForm.MatchString(b.Colour) {
		d.problem(path+".brand.colour", "must be written as \"#0a5\" or \"#00aa55\", in quotes, not %q", b.Colour)
	}
	if b.Logo = resolve(d.dir, b.Logo); b.Logo == "" {
		return
	}
	data, err := readFile(b.Logo, maxPicture)
	kind := ""
	if err == nil {
		kind, err = pictureKind([]byte(data))
	}
	if err != nil {
		d.problem(path+".brand.logo", "must be a picture that can be read: %v", err)
		return
	}
	b.SetPicture(kind, []byte(data))
}

// pictureKind returns the media type of a picture.
func pictureKind(data []byte) (string, error) {
	if head, ok := bytes.CutPrefix(data, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")); ok && len(head) > 8 {
		if max(binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])) > maxPixels {
			return "", fmt.Errorf("it has more than %d dots in a row or a column", maxPixels)
		}
		return "image/png", nil
	}
	for x := xml.NewDecoder(bytes.NewReader(data)); ; {
		t, err := x.Token()
		if err != nil {
			return "", errors.New("it is neither PNG nor SVG")
		}
		switch t := t.(type) {
		case xml.Directive:
			return "", errors.New("it is SVG with a document type: remove that line")
		case xml.StartElement:
			if t.Name.Local == "svg" && t.Name.Space == "http://www.w3.org/2000/svg" {
				return "image/svg+xml", nil
			}
			return "", errors.New("it is neither PNG nor SVG")
		}
	}
}
