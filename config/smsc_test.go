package config

import (
	"strings"
	"testing"
)

const smscs = `
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: smsc, direction: out, protocol: http, %s}
routes: [{to: smsc}]
`

// What is wrong with a connector to an SMSC that is called by HTTP is reported at its option.
func TestSMSCProblems(t *testing.T) {
	t.Parallel()
	f := func(options, want string) {
		t.Helper()
		_, _, err := Parse([]byte(strings.Replace(smscs, "%s", options, 1)), Options{Protocols: []string{"smpp", "http"}})
		if err == nil && want == "" {
			return
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	const kannel = `preset: kannel, url: "http://192.0.2.1:13013", `
	f(kannel, "")
	f(`url: "https://a.example.net/?to={to}", tls: {min_version: "1.2"}`, "")
	f(kannel+`callbacks: {listener: api, secret: x, url: "https://b.example.net"}`, "")
	f(`preset: kannel`, "connectors[smsc].url must be given")
	f(`url: "http://a/?to={too}"`, "connectors[smsc].url has {too}")
	f(kannel+`address: "192.0.2.1:80"`, "must not have address")
	f(kannel+`listen: "192.0.2.1:80"`, "must not have address or listen")
	f(kannel+`tls: true`, "connectors[smsc].tls must not be given with a url that begins with http://")
	f(kannel+`request: {login: basic}`, "connectors[smsc].system_id must be given with request.login")
	f(kannel+`request: {login: oauth2, token: {url: "https://a.example.net/token", client_id: me, client_secret: secret, scope: sms, login: form}}`, "")
	f(kannel+`request: {login: oauth2}`, "connectors[smsc].request.token must have url, client_id and client_secret")
	f(kannel+`request: {login: oauth2, token: {url: "https://a.example.net", client_id: me}}`, "connectors[smsc].request.token must have url")
	f(kannel+`request: {login: oauth2, token: {url: "ftp://a", client_id: me, client_secret: secret}}`, "connectors[smsc].request.token.url must be a URL")
	f(kannel+`request: {login: oauth2, token: {url: "https://me:secret@a", client_id: me, client_secret: secret}}`, "connectors[smsc].request.token.url must not have a user")
	f(kannel+`request: {login: basic, token: {url: "https://a"}}, system_id: pmg`, "connectors[smsc].request.token needs request.login: oauth2")
	f(kannel+`callbacks: {listener: apo, secret: x}`, "did you mean api?")
	f(kannel+`callbacks: {listener: smsc, secret: x}`, "connectors[smsc].callbacks.listener must be an in connector")
	f(kannel+`callbacks: {listener: api}`, "connectors[smsc].callbacks.secret must be given")
	f(kannel+`long_messages: sar`, "must be pass or join, or")
	f(kannel+`long_messages: split16`, "")
	f(`url: "http://a/?to={to}", long_messages: split8`, "must be pass or join, or")
	f(kannel+`answers: {success: {body: "("}}`, "connectors[smsc].answers.success.body must be a regular expression")
}

// A request that brings octets, and does not say in which alphabet they are, is warned of: it makes other texts of some.
func TestSMSCCoding(t *testing.T) {
	t.Parallel()
	for options, warned := range map[string]bool{
		`url: "http://a/?to={to}&t={octets_hex}"`:                                                             true,
		`url: "http://a/?to={to}&t={data}"`:                                                                   true,
		`url: "http://a/", request: {json: '{"to": "{to}", "hex": "{data_hex}"}'}`:                            true,
		`url: "http://a/?to={to}&t={octets_hex}", encode_as: shortest`:                                        true,
		`url: "http://a/?to={to}&t={octets_hex}", encode_as: ucs2`:                                            false,
		`url: "http://a/?to={to}&t={octets_hex}", encode_as: shortest, missing_characters: refuse`:            false,
		`url: "http://a/?to={to}&t={octets_hex}&dcs={data_coding}"`:                                           false,
		`url: "http://a/?to={to}&t={data}&charset={charset}"`:                                                 false,
		`url: "http://a/?to={to}", request: {form: "t={octets_base64}", headers: ["X-Kannel-DCS: {coding}"]}`: false,
		`url: "http://a/?to={to}&t={text}&hex={octets_hex}"`:                                                  false,
		`url: "http://a/?to={to}&t={text}"`:                                                                   false,
		`url: "http://a/?to={to}&t={content}"`:                                                                false,
		`preset: kannel, url: "http://a"`:                                                                     false,
		`preset: jasmin, url: "http://a"`:                                                                     false,
	} {
		_, warnings, err := Parse([]byte(strings.Replace(smscs, "%s", options, 1)), Options{Protocols: []string{"smpp", "http"}})
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, w := range warnings {
			said = said || strings.Contains(w.String(), "which texts are UCS-2")
		}
		if said != warned {
			t.Errorf("%s: %v", options, warnings)
		}
	}
}

// A webhook in another gateway's form may have escapes behind its host, and replies only where that gateway has them.
func TestWebhookForms(t *testing.T) {
	t.Parallel()
	f := func(options, want string) {
		t.Helper()
		text := strings.Replace(strings.Replace(smscs, "%s", `preset: kannel, url: "http://a"`, 1), "password: secret", "password: secret, "+options, 1)
		_, _, err := Parse([]byte(text), Options{Protocols: []string{"smpp", "http"}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	f(`webhook: "http://a/x", webhook_form: pmg`, "")
	f(`webhook: "http://a/x?a=%p", webhook_form: kannel-get, webhook_reply: true`, "")
	f(`webhook: "http://a/%p/x?a=%p&b=1", webhook_form: kannel-post`, "")
	f(`webhook: "http://a/x?a=b", webhook_form: jasmin-get`, "")
	f(`webhook: "http://a/x?a=%p"`, "webhook must end with its path")
	f(`webhook: "ftp://a/%p", webhook_form: kannel-get`, "webhook must begin with http")
	f(`webhook: "http://a/", webhook_form: jasmin-post, webhook_reply: true`, "webhook_reply must not be true")
}

// How texts are sent depends on what requests have room for, and ids are as the SMSC writes them.
func TestSMSCDefaults(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`preset: kannel, url: "http://a"`:                        "split8",
		`preset: jasmin, url: "http://a"`:                        "join",
		`preset: pmg, url: "http://a", system_id: a`:             "pass",
		`url: "http://a/?to={to}&text={text}"`:                   "join",
		`url: "http://a/?to={to}&udh={udh_hex}"`:                 "split8",
		`preset: kannel, url: "http://a", long_messages: "pass"`: "pass",
	} {
		cfg, _, err := Parse([]byte(strings.Replace(smscs, "%s", options, 1)), Options{Protocols: []string{"smpp", "http"}})
		if err != nil {
			t.Fatal(err)
		}
		if c := &cfg.Connectors[1]; c.Text.Long != want || c.ReceiptIDs != "same" || !c.IsHTTPSMSC() || c.Listens() {
			t.Errorf("%s: %+v", options, c)
		}
	}
}
