package httpcall

import (
	"fmt"
	"strings"
	"testing"
)

// Which URLs an account with prefixes may have called, and at which addresses beside the public ones.
func TestAllowed(t *testing.T) {
	t.Parallel()
	f := func(prefixes, url, want string) {
		t.Helper()
		public := strings.HasPrefix(prefixes, "public")
		to, err := Allowed(strings.Fields(strings.TrimPrefix(prefixes, "public")), public, url)
		got := fmt.Sprint(to.Networks)
		if err != nil {
			got = err.Error()
		}
		if to.Trusted || got != want {
			t.Errorf("%s, %s: %s, want %s", prefixes, url, got, want)
		}
	}
	const no = "is not among the URLs and networks that the account allows"
	const yes = "[]"
	const crm = "https://crm.example.net/dlr"
	f(crm, "https://crm.example.net/dlr", yes)
	f(crm, "https://crm.example.net/dlr?id=%d&to=%p", yes)
	f(crm, "https://crm.example.net/dlr/7", yes)
	f(crm, "HTTPS://CRM.Example.NET.:443/dlr/7", yes)
	f(crm, "https://crm.example.net:0443/dlr", yes)
	f(crm, "https://crm.example.net/%64lr", yes)
	f(crm, "https://crm.example.net/dlrs", no)
	f(crm, "https://crm.example.net/", no)
	f(crm, "https://crm.example.net", no)
	f(crm, "https://crm.example.net/Dlr", no)
	f(crm, "http://crm.example.net/dlr", no)
	f(crm, "https://crm.example.net:8443/dlr", no)
	f(crm, "https://crm.example.net.evil.example/dlr", no)
	f(crm, "https://evil.example/?https://crm.example.net/dlr", no)
	f(crm, "https://evil.example/https://crm.example.net/dlr", no)
	f("https://crm.example.net", "https://crm.example.net/any", yes)
	f("https://crm.example.net/dlr/", "https://crm.example.net/dlr/7", yes)
	f("https://crm.example.net/dlr/", "https://crm.example.net/dlr", no)
	f("http://a.example.net/ "+crm, "https://crm.example.net/dlr", yes)
	f("", crm, no)
	f("ftp://crm.example.net/", crm, no)

	f("public", "http://anybody.example.org:8080/x", yes)
	f("public", "http://1.1.1.1/", yes)
	f("public", "http://10.0.0.1/", "its address 10.0.0.1 is not public")
	f("public", "http://[::ffff:10.0.0.1]/", "its address 10.0.0.1 is not public")
	f("public", "http://[fe80::1%25eth0]/", "must not have a zone in its address")
	f("public", "https://127.0.0.1:8443/", "its address 127.0.0.1 is not public")

	f("http://10.0.0.1/dlr", "http://10.0.0.1/dlr/7", "[10.0.0.1/32]")
	f("http://10.0.0.1/dlr", "http://[::ffff:10.0.0.1]/dlr", "[10.0.0.1/32]")
	f("http://10.0.0.1/dlr", "http://10.0.0.2/dlr", no)
	f("http://10.0.0.1/dlr http://crm.example.net/", "http://crm.example.net/", yes)
	f("public http://10.0.0.1/", "http://crm.example.net/", yes) // by its name it does not reach what another names
	f("http://[fd00::1]:8080/", "http://[FD00:0::1]:8080/x", "[fd00::1/128]")
	f("192.168.0.0/16 10.1.0.0/16 http://crm.internal/", "http://crm.internal/dlr", "[10.1.0.0/16 192.168.0.0/16]")
	f("public 10.1.0.0/16", "http://10.1.2.3/", "[10.1.0.0/16]")
	f("10.1.0.0/16", "http://10.1.2.3/", no) // a network alone allows no URL
}

// The answers to clients that name a URL which nobody may use.
func TestURLs(t *testing.T) {
	t.Parallel()
	f := func(url, want string) {
		t.Helper()
		if _, err := Allowed([]string{"https://crm.example.net/"}, true, url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
	const host, dots, slashes, port = "must have a host name of letters", "must not have . or ..", "must not have encoded slashes", "must have a port from"
	f("", "must begin with http")
	f("/dlr", "must begin with http")
	f("//crm.example.net/", "must begin with http")
	f("crm.example.net/dlr", "must begin with http")
	f("file:///etc/passwd", "must begin with http")
	f("gopher://crm.example.net/", "must begin with http")
	f("http:crm.example.net", host)
	f("https://user@crm.example.net/", "must not have a user")
	f("https://crm.example.net@evil.example/", "must not have a user")
	f("https://:secret@crm.example.net/", "must not have a user")
	f("https://", host)
	f("https://bücher.example/", host)
	f("https://crm.example.net\\.evil.example/", "cannot be read")
	f("https://crm_example.net,evil.example/", host)
	f("https://crm.example.net\r\nHost: evil/", "cannot be read")
	f("https://crm.example.net/%zz", "cannot be read")
	f("https://[::1/", "cannot be read")
	f("https://crm.example.net:99999/", port)
	f("https://crm.example.net:0/", port)
	f("https://crm.example.net:x/", "cannot be read")
	f("https://crm.example.net:25/", "must have port 80, 443, or one from 1024, not 25")
	f("https://crm.example.net/a/../b", dots)
	f("https://crm.example.net/a/%2e%2E/b", dots)
	f("https://crm.example.net/..", dots)
	f("https://crm.example.net/./a", dots)
	f("https://crm.example.net/a/..;x=1/b", dots)
	f("https://crm.example.net/a%2fb", slashes)
	f("https://crm.example.net/a%5Cb", slashes)
	f("https://crm.example.net/a\\b", slashes)
}

// What a configuration may have.
func TestCheckPrefix(t *testing.T) {
	t.Parallel()
	f := func(prefix, want string) {
		t.Helper()
		got := ""
		if err := CheckPrefix(prefix); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
	f("https://crm.example.net", "")
	f("http://10.0.0.1:8080/dlr", "")
	f("10.0.0.0/8", "")
	f("fd00::/8", "")
	f("https://crm.example.net/dlr?id=", "must end with its path")
	f("https://crm.example.net/dlr?", "must end with its path")
	f("https://crm.example.net/dlr#a", "must end with its path")
	f("crm.example.net", "must begin with http")
	f("https://*.example.net/", "must have a host name")
	f("10.0.0.1", "must begin with http")
}

// Whatever a URL is, Allowed does not fail, and allows none of another host.
func FuzzAllowed(f *testing.F) {
	for _, url := range []string{"https://crm.example.net/dlr", "https://crm.example.net:443/dlr/%2e%2e", "http://[::1]:80/", "https://a@crm.example.net/dlr", "https://crm.example.net\\@evil/"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		if _, err := Allowed([]string{"https://crm.example.net/dlr"}, false, url); err != nil {
			return
		}
		p, err := readURL(url)
		if err != nil || p.host != "crm.example.net" || p.port != 443 || p.scheme != "https" || !strings.HasPrefix(p.path, "/dlr") || strings.Contains(p.path, "/../") {
			t.Errorf("%q is allowed: %+v", url, p)
		}
	})
}
