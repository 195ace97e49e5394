package config

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/texts"
)

// The picture of a reseller is PNG or SVG, and small. What is none, or too large, is refused with a reason.
func TestPictures(t *testing.T) {
	t.Parallel()
	picture := func(side int) string {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, 1))); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"/>`
	for name, c := range map[string]struct{ data, kind, wrong string }{
		"png":          {picture(2), "image/png", ""},
		"wide":         {picture(maxPixels + 1), "", "more than 2048 dots"},
		"half":         {picture(2)[:20], "", "neither PNG nor SVG"},
		"svg":          {"<!-- ours -->\n" + svg, "image/svg+xml", ""},
		"doctype":      {"<!DOCTYPE svg [<!ENTITY a \"b\">]>" + svg, "", "document type"},
		"no namespace": {"<svg/>", "", "neither PNG nor SVG"},
		"html":         {"<html>" + svg + "</html>", "", "neither PNG nor SVG"},
		"gif":          {"GIF89a", "", "neither PNG nor SVG"},
		"empty":        {"", "", "neither PNG nor SVG"},
		"long":         {svg + strings.Repeat(" ", maxPicture), "", "larger than 64KiB"},
	} {
		file := filepath.Join(t.TempDir(), "logo")
		if err := os.WriteFile(file, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		all, _, err := Parse(fmt.Appendf(nil, "connectors: [{name: a, direction: in, protocol: http, address: \"127.0.0.1:1\", portal: true, brand: {logo: %q}}]\naccounts: []\n", file), Options{})
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || all.Connectors[0].HTTP.Brand.Picture().Kind != c.kind || string(all.Connectors[0].HTTP.Brand.Picture().Data) != c.data {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The options of the pages for customers say what is wrong with them.
func TestPortalOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`portal_url: "http://sms.example.net"`:             "portal_url must begin with https://",
		`portal_url: "https://sms.example.net/portal/"`:    "portal_url must be an address without a path",
		`portal_url: "https://ann:x@sms.example.net"`:      "portal_url must be an address",
		`portal_url: "https://sms.example.net?a=b"`:        "portal_url must be an address",
		`portal_url: "sms.example.net"`:                    "portal_url must be an address",
		`portal_url: "javascript:alert(1)"`:                "portal_url must be an address",
		`portal_url: "https://sms.example.net:8443/"`:      "",
		`portal_url: "http://127.0.0.1:8080"`:              "",
		`brand: {colour: green}`:                           "colour must be written as",
		`brand: {colour: "#00aa5"}`:                        "colour must be written as",
		`brand: {colour: "#0a5; } body { display: none"}`:  "colour must be written as",
		`brand: {logo: missing.png}`:                       "missing.png does not exist",
		`brand: {name: "` + strings.Repeat("a", 65) + `"}`: "name must be printable, of 64 octets",
		`brand: {name: "a\u200bb"}`:                        "name must be printable",
		`brand: {name: Ann & Bob, colour: "#0A5"}`:         "",
	} {
		_, _, err := Parse([]byte("connectors: [{name: a, direction: in, protocol: http, address: \"127.0.0.1:1\", portal: true, "+options+"}]\naccounts: []\n"), Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", options, err, want)
		}
	}
	_, warnings, err := Parse([]byte("connectors: [{name: a, direction: in, protocol: http, address: \"127.0.0.1:1\", portal_url: \"https://a.example\", brand: {name: x}}]\naccounts: []\n"), Options{})
	if all := fmt.Sprint(warnings); err != nil || strings.Count(all, "has no effect without portal: true") != 2 {
		t.Errorf("%v, %s", err, all)
	}
}

// An address for mail has nothing that could end it in a header or a command. Accounts and users that get no mail are named.
func TestMailOptions(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"ann@example.net": true, "a.b+c@sub.example.net": true, "ann@localhost": true, "o'neil@example.net": true, "a@b-c.example": true,
		"": false, "ann": false, "ann@": false, "@b.c": false, "a@b@c": false, "a b@c.d": false, "a@b c": false, "<a@b.c>": false, "a@b.c>": false, "a@-b.c": false,
		"a@b.c\r\nX: y": false, "a@b.c\n": false, "a\x00@b.c": false, "\"a\"@b.c": false, "å@b.c": false, "a@b.c, d@e.f": false, strings.Repeat("a", 65) + "@b.c": false,
		"a@" + strings.Repeat("b", 253): false,
	} {
		if IsMailAddress(address) != want {
			t.Errorf("%q", address)
		}
	}
	const server = "mail: {server: \"127.0.0.1:25\", from: Example <sms@example.net>, tls: none, user: a, password: hush}\n"
	for text, want := range map[string]int{
		"accounts: [{system_id: a, password: hush, mail: ann@example.net}]\n":                       1,
		server + "accounts: [{system_id: a, password: hush, mail: ann@example.net}]\n":              1,
		server + "accounts: [{system_id: a, password: hush, mail: a@b.c, balance: {low: \"1\"}}]\n": 0,
	} {
		c, warnings, err := Parse([]byte("connectors: []\n"+text), Options{})
		n := strings.Count(fmt.Sprint(warnings), "gets no mail")
		if err != nil || n != want || c.Mail.IsSet() && c.Mail.Sender().Address != "sms@example.net" {
			t.Errorf("%s: %v, %v", text, err, warnings)
		}
	}
}

// The texts of the pages are read from a directory. What is wrong with a file is said with its name.
func TestPortalTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"right":    {map[string]string{"fr.json": `{"Inbox": "Boîte de réception"}`, "fr.json~": "{", ".fr.json": "{", "README.md": "a"}, ""},
		"unknown":  {map[string]string{"fr.json": `{"Inbux": "a"}`}, `connectors[a].portal_texts fr.json: "Inbux" is no text of the pages: did you mean "Inbox"?`},
		"place":    {map[string]string{"de.json": `{"Line %s: %s": "Zeile %s"}`}, `portal_texts de.json: the text of "Line %s: %s" must have the places of the key: %s %s`},
		"no JSON":  {map[string]string{"de.json": `{`}, `portal_texts de.json: cannot be read`},
		"no name":  {map[string]string{"german.json": `{}`}, `portal_texts german.json: must have the name of a language`},
		"too long": {map[string]string{"de.json": strings.Repeat(" ", texts.MostOctets+1)}, `portal_texts has de.json, which cannot be read: it is larger than 512KiB`},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, _, err := Parse(fmt.Appendf(nil, "connectors: [{name: a, direction: in, protocol: http, address: \"127.0.0.1:1\", portal: true, portal_texts: %q}]\naccounts: []\n", dir), Options{})
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, not %q", name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if p, ok := all.Connectors[0].HTTP.Texts().In("fr"); !ok || p.Text("Inbox") != "Boîte de réception" {
				t.Errorf("%s: %s", name, p.Text("Inbox"))
			}
		}
	}
	dir := t.TempDir()
	for i := range texts.MostFiles + 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("a%d.json", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for options, want := range map[string]string{
		fmt.Sprintf("portal: true, portal_texts: %q", dir): "portal_texts must have 50 files at most",
		"portal: true, portal_texts: /nowhere":             "portal_texts must be a directory that can be read",
		"portal: true, portal_texts: portal.go":            "portal_texts must be a directory that can be read",
	} {
		_, _, err := Parse([]byte("connectors: [{name: a, direction: in, protocol: http, address: \"127.0.0.1:1\", "+options+"}]\naccounts: []\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", options, err, want)
		}
	}
	_, warnings, err := Parse(fmt.Appendf(nil, "connectors: [{name: a, direction: in, protocol: http, address: \"127.0.0.1:1\", portal_texts: %q}]\naccounts: [{system_id: a, password: b, language: de}]\n", t.TempDir()), Options{})
	if all := fmt.Sprint(warnings); err != nil || !strings.Contains(all, "portal_texts") || !strings.Contains(all, "has no files such as fr.json") {
		t.Errorf("%v, %s", err, all)
	}
	if _, _, err := Parse([]byte("accounts: [{system_id: a, password: b, language: german}]\n"), Options{}); err == nil || !strings.Contains(err.Error(), `accounts[a].language must be the tag of a language, such as de or pt-BR, not "german"`) {
		t.Error(err)
	}
}
