package smsc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmg/protocols/httpsms"
)

// tokenCall returns the request for a token by the client credentials grant (RFC 6749 §4.4.2), nil if none is wanted.
func (r *reader) tokenCall(o *httpsms.RequestOptions) *httpsms.Call {
	t := &o.Token
	if o.Login != "oauth2" {
		if *t != (httpsms.TokenOptions{}) {
			r.wrong("request.token", "needs request.login: oauth2")
		}
		return nil
	}
	u, err := url.Parse(t.URL)
	switch {
	case t.URL == "" || t.ClientID == "" || t.ClientSecret == "":
		r.wrong("request.token", "must have url, client_id and client_secret with request.login: oauth2")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		r.wrong("request.token.url", "must be a URL that begins with http:// or https://")
	case u.User != nil:
		r.wrong("request.token.url", "must not have a user or a password: write them as client_id and client_secret")
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if t.Scope != "" {
		form.Set("scope", t.Scope)
	}
	call := &httpsms.Call{Method: http.MethodPost, URL: t.URL, Header: [][2]string{
		{"User-Agent", "pmg"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"},
	}}
	if t.Login == "form" {
		form.Set("client_id", t.ClientID)
		form.Set("client_secret", t.ClientSecret)
	} else { // id and secret are escaped before they are joined (RFC 6749 §2.3.1)
		login := url.QueryEscape(t.ClientID) + ":" + url.QueryEscape(t.ClientSecret)
		call.Header = append(call.Header, [2]string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(login))})
	}
	call.Body = []byte(form.Encode())
	return call
}

// TokenCall returns the request for a token; nil if requests need no token. The caller must not change it.
func (c *SMSC) TokenCall() *httpsms.Call { return c.token }

// A Token is a credential that requests to an SMSC contain.
type Token struct {
	Text  string
	Lasts time.Duration // lifetime of the token; 0: the token is valid until the SMSC refuses it
}

// longestToken is the limit of the length of a token, in octets. Headers of requests have room for it.
const longestToken = 16 << 10

// tokenErrors are the errors that a server may answer in place of a token (RFC 6749 §5.2). Nothing else of
// the answer is shown, because it may repeat the secrets that were sent.
var tokenErrors = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

// ReadToken reads the answer to a request for a token. why is the reason why there is no token, as text that
// follows the name of a server, or "". The type of the token is ignored: some servers have names of their own
// for Bearer.
func ReadToken(status int, body []byte) (t Token, why string) {
	var said struct {
		Token   string          `json:"access_token"`
		Expires json.RawMessage `json:"expires_in"`
		Error   string          `json:"error"`
	}
	err := json.Unmarshal(body, &said)
	bad := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case slices.Contains(tokenErrors, said.Error):
		return t, fmt.Sprintf("answered %d to the request for a token: %s", status, said.Error)
	case status != http.StatusOK:
		return t, fmt.Sprintf("answered %d to the request for a token", status)
	case err != nil || said.Token == "" || len(said.Token) > longestToken || strings.ContainsFunc(said.Token, bad):
		return t, "answered the request for a token with something else"
	}
	t.Text = said.Token
	if n, err := strconv.ParseInt(strings.Trim(string(said.Expires), `"`), 10, 64); err == nil && n > 0 { // may be a string
		t.Lasts = time.Duration(min(n, int64(longestLife/time.Second))) * time.Second
	}
	return t, ""
}

// longestLife is the limit of the time for which a token is used, whatever its server declares.
const longestLife = 24 * time.Hour
