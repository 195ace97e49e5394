package token

import "testing"

func TestBearer(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc ": "abc", "\tBearer\tabc": "abc", "Bearer a b": "a b",
		"Basic abc": "-", "Bearer": "-", "": "-", "Bearerabc": "-",
	} {
		token, ok := Bearer(header)
		if !ok {
			token = "-"
		}
		if token != want {
			t.Errorf("%q: %q, want %q", header, token, want)
		}
	}
}

func TestBasic(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{ // Aladdin:open sesame, of RFC 7617
		"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==": "Aladdin open sesame", "basic   QWxhZGRpbjpvcGVuIHNlc2FtZQ==": "Aladdin open sesame",
		"Basic OnNlY3JldA==": " secret", "Basic !": "-", "Basic YWJj": "-", "Bearer YTpi": "-", "": "-",
	} {
		name, password, ok := Basic(header)
		got := name + " " + password
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
