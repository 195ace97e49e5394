package smsc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
)

// The request for a token has the client's credentials in its header, or in its body, and nothing in its URL.
func TestTokenCall(t *testing.T) {
	t.Parallel()
	f := func(token httpsms.TokenOptions, header, body string) {
		t.Helper()
		token.URL, token.ClientID, token.ClientSecret = "https://a.example.net/token", "me:1", "s/p"
		c, problems := New(&httpsms.ConnectorOptions{URL: "http://b/?to={to}", Request: httpsms.RequestOptions{Login: "oauth2", Token: token}}, Identity{})
		if c == nil {
			t.Fatal(problems)
		}
		call := c.TokenCall()
		if got := fmt.Sprint(call.Header); call.Method != "POST" || call.URL != token.URL || string(call.Body) != body || strings.Contains(got, "Authorization") != (header != "") || !strings.Contains(got, header) {
			t.Errorf("%s %s %s", call.Method, got, call.Body)
		}
	}
	const basic = "Basic bWUlM0ExOnMlMkZw" // me%3A1:s%2Fp
	f(httpsms.TokenOptions{}, basic, "grant_type=client_credentials")
	f(httpsms.TokenOptions{Scope: "sms send"}, basic, "grant_type=client_credentials&scope=sms+send")
	f(httpsms.TokenOptions{Login: "form"}, "", "client_id=me%3A1&client_secret=s%2Fp&grant_type=client_credentials")

	c, problems := New(&httpsms.ConnectorOptions{URL: "http://b/?to={to}", Request: httpsms.RequestOptions{Headers: []string{"X-A: b"}}}, Identity{})
	if c == nil || c.TokenCall() != nil {
		t.Fatal(problems)
	}
	if got := c.Call(&Values{To: "1", Token: "t1"}).Header; fmt.Sprint(got) != "[[Authorization Bearer t1] [User-Agent pmg] [X-A b]]" {
		t.Error(got)
	}
}

// What is no token is not taken for one, and none of it is shown.
func TestReadToken(t *testing.T) {
	t.Parallel()
	f := func(status int, body, token string, lasts time.Duration, want string) {
		t.Helper()
		got, why := ReadToken(status, []byte(body))
		if got.Text != token || got.Lasts != lasts || (why == "") != (want == "") || !strings.Contains(why, want) || strings.Contains(why, "hidden") {
			t.Errorf("%.60q: %.60v, %q", body, got, why)
		}
	}
	f(200, `{"access_token": "t-1._~+/=", "token_type": "Bearer", "expires_in": 3600}`, "t-1._~+/=", time.Hour, "")
	f(200, `{"access_token": "t", "token_type": "BearerToken", "expires_in": "60"}`, "t", time.Minute, "")
	f(200, `{"access_token": "t"}`, "t", 0, "")
	f(200, `{"access_token": "t", "expires_in": 0}`, "t", 0, "")
	f(200, `{"access_token": "t", "expires_in": -5}`, "t", 0, "")
	f(200, `{"access_token": "t", "expires_in": null}`, "t", 0, "")
	f(200, `{"access_token": "t", "expires_in": 9223372036854775807}`, "t", 24*time.Hour, "")
	const no = "something else"
	f(200, ``, "", 0, no)
	f(200, `<html>hidden`, "", 0, no)
	f(200, `{}`, "", 0, no)
	f(200, `{"access_token": 7}`, "", 0, no)
	f(200, `{"access_token": ["hidden"]}`, "", 0, no)
	f(200, `{"access_token": "hidden\r\nX-A: b"}`, "", 0, no)
	f(200, `{"access_token": "hidden text"}`, "", 0, no)
	f(200, `{"access_token": "hiddenå"}`, "", 0, no)
	f(200, `{"access_token": "`+strings.Repeat("x", longestToken+1)+`"}`, "", 0, no)
	f(200, strings.Repeat("[", 64<<10), "", 0, no)
	f(201, `{"access_token": "hidden"}`, "", 0, "answered 201")
	f(302, ``, "", 0, "answered 302")
	f(401, `{"error": "invalid_client", "error_description": "hidden"}`, "", 0, "answered 401 to the request for a token: invalid_client")
	f(400, `{"error": "hidden"}`, "", 0, "answered 400 to the request for a token")
	f(200, `{"error": "invalid_scope"}`, "", 0, "answered 200 to the request for a token: invalid_scope")
	f(503, `{"access_token": "hidden"}`, "", 0, "answered 503")
}
