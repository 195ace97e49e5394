package main

import (
	"bytes"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmg/internal/testkit/smtptest"
	"pmg/internal/testkit/testutil"
)

// An operator sees that mail can be sent, or what the server says; and a customer who was made by HTTP gets a link for a new password,
// and logs in with it.
func TestMail(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := smtptest.New(t, smtptest.Options{Answer: func(verb string, n int) string {
		return map[bool]string{true: "550 no such person"}[verb == "RCPT" && n == 1]
	}})
	text := strings.Replace(fmt.Sprintf(managedGateway, dir), "protocol: http,", `protocol: http, portal: true, portal_url: "http://127.0.0.1",`, 1)
	r := runServer(t, text+"\nmail: {server: \""+server.Address+"\", from: sms@example.net, tls: none}\n")
	t.Setenv("PMG_ADMIN_TOKEN", "pmg_test")
	for _, want := range []string{"", "550", ""} {
		var out bytes.Buffer
		err := runPMG(&out, "mail", "test", "--address", r.admin.Addr(), "ann@example.net")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && out.String() != server.Address+" has taken a mail for ann@example.net\n" {
			t.Errorf("%v, %s", err, &out)
		}
	}
	operator := caller{t, "http://" + r.admin.Addr() + "/admin/v1", "pmg_test"}
	operator.ask("PUT /accounts/acme", `{"password": "s3cret", "users": [{"name": "ann", "password": "of-ann", "mail": "ann@example.net"}]}`, 201, nil)
	api := "http://" + r.engine.Addresses(r.gateway.Table.Connector("api"))[0].String()
	post := func(path string, form url.Values) string {
		t.Helper()
		a, err := http.PostForm(api+path, form)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, _ := io.ReadAll(a.Body)
		return string(b)
	}
	post("/portal/forgot", url.Values{"account": {"acme"}, "name": {"ann"}})
	testutil.Eventually(t, "the link comes", func() bool { return len(server.Took()) == 3 })
	m, err := mail.ReadMessage(strings.NewReader(server.Took()[2].Text))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(quotedprintable.NewReader(m.Body))
	link := regexp.MustCompile(`http://127\.0\.0\.1/portal/reset\?token=(\S+)`).FindSubmatch(body)
	if link == nil {
		t.Fatalf("%s", body)
	}
	post("/portal/reset", url.Values{"token": {string(link[1])}, "password": {"battery staple"}, "again": {"battery staple"}})
	jarless := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a, err := jarless.PostForm(api+"/portal/login", url.Values{"account": {"acme"}, "name": {"ann"}, "password": {"battery staple"}})
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/portal/" {
		t.Errorf("%d to %s", a.StatusCode, a.Header.Get("Location"))
	}
}
