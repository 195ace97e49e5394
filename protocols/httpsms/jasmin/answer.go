package jasmin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// release is the name and version that Jasmin's clients expect.
const release = "Jasmin 0.11.1"

// plain returns an answer of the HTTP interface. Clients compare the body, which does not end with a new line.
func plain(status int, text string) *httpsms.Answer {
	return &httpsms.Answer{Status: status, ContentType: "text/plain", Body: []byte(text)}
}

func jsonAnswer(status int, value any) *httpsms.Answer {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // encoding cannot fail: all values are maps and texts
	return &httpsms.Answer{Status: status, ContentType: "application/json", Body: []byte(strings.TrimSuffix(b.String(), "\n"))}
}

// rest returns an answer of the REST interface.
func rest(status int, value any) *httpsms.Answer {
	a := jsonAnswer(status, value)
	a.Header = append(a.Header, [2]string{"Powered-By", release})
	return a
}

// problem returns an error of the REST interface itself, and not of the HTTP interface behind it.
func problem(status int, title, description string) *httpsms.Answer {
	a := rest(status, struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	}{title, description})
	if status == http.StatusUnauthorized {
		a.Header = append(a.Header, [2]string{"WWW-Authenticate", "Basic"})
	}
	return a
}

// Ping answers GET /ping.
func Ping() *httpsms.Answer { return plain(http.StatusOK, "Jasmin/PONG") }

// Root answers GET /.
func Root() *httpsms.Answer { return plain(http.StatusOK, release) }

// NotAllowed returns the answer to a request with another method than GET and POST.
func NotAllowed() *httpsms.Answer {
	a := plain(http.StatusMethodNotAllowed, "Method Not Allowed")
	a.Header = append(a.Header, [2]string{"Allow", "GET, POST"})
	return a
}

// TooLarge returns the answer to a request with more than MaxRequest octets.
func TooLarge(path string) *httpsms.Answer {
	return (&Request{path: path}).refuse(http.StatusRequestEntityTooLarge, "Request is too large")
}

// Unread returns the answer to a request whose body does not end.
func Unread(path string) *httpsms.Answer {
	return (&Request{path: path}).refuse(http.StatusBadRequest, "Request ends too early")
}

// Busy returns the answer to a request for which there is no room now.
func Busy(path string) *httpsms.Answer {
	return (&Request{path: path}).refuse(http.StatusServiceUnavailable, "No room for the request now")
}

// refuse returns the answer with the reason of a refusal. The REST interface cuts off quotes at the ends of
// the HTTP interface's text, which has no quote in front.
func (q *Request) refuse(status int, text string) *httpsms.Answer {
	message := map[string]string{"message": text}
	switch q.path {
	case Rate, Balance:
		return jsonAnswer(status, text)
	case SecureRate, SecureStatus:
		return rest(status, message)
	case SecureSend, SecureBatch:
		message["message"] = `Error "` + text
		return rest(status, message)
	}
	return plain(status, `Error "`+text+`"`)
}

// Denied returns the answer to a request for a path with the wrong credentials of a user.
func Denied(path, username string) *httpsms.Answer {
	return (&Request{path: path, username: username}).Denied()
}

// Denied returns the answer to a request whose credentials are wrong.
func (q *Request) Denied() *httpsms.Answer {
	if q.path == SecureBatch {
		return problem(http.StatusPreconditionFailed, "Authentication failed", "Authentication failed for user: "+q.username)
	}
	return q.refuse(http.StatusForbidden, "Authentication failure for username:"+q.username)
}

// NotCalled returns the answer to a request one of whose URLs may not be called.
func (q *Request) NotCalled(url string) *httpsms.Answer {
	name := "dlr-url"
	if url == q.batch.Callback || url == q.batch.Errback {
		name = "callback_url or errback_url"
	}
	return q.refuse(http.StatusBadRequest, invalid(name, url))
}

// refusals are Jasmin's answers for a message's code; U stands for the user.
var refusals = map[sms.Code]struct {
	status int
	text   string
}{
	sms.Throttled:      {http.StatusForbidden, "User throughput exceeded"},
	sms.BadDestination: {http.StatusPreconditionFailed, "No route found"},
	sms.BadSource:      {http.StatusBadRequest, "Value filter failed for user [U] (source_address filter mismatch)."},
	sms.BadValidity:    {http.StatusBadRequest, "Value filter failed for user [U] (validity_period filter mismatch)."},
	sms.BadLength:      {http.StatusBadRequest, "Authorization failed for user [U] (Long content not authorized)."},
	sms.BadSchedule: {
		http.StatusBadRequest, "Authorization failed for user [U] (Setting schedule delivery time not authorized).",
	},
}

// refusal returns the status and the text for a message that was refused.
func (q *Request) refusal(code sms.Code) (int, string) {
	if r, ok := refusals[code]; ok {
		return r.status, strings.Replace(r.text, "[U]", "["+q.username+"]", 1)
	}
	return http.StatusInternalServerError, "Cannot send submit_sm, check SMPPClientManagerPB log file for details"
}

func success(id uint64) string { return `Success "` + httpsms.UUID(id) }

// Answer returns the answer to a request whose orders had these results. Requests for a rate or a balance need no results.
func (q *Request) Answer(results []httpsms.Result) *httpsms.Answer {
	switch {
	case q.path == SecureBatch:
		return q.batchAnswer(results)
	case q.sends() && results[0].Code != sms.OK:
		return q.refuse(q.refusal(results[0].Code))
	case q.path == Send:
		return plain(http.StatusOK, success(results[0].ID)+`"`)
	case q.path == SecureSend:
		return rest(http.StatusOK, map[string]string{"data": success(results[0].ID)}) // the quote is missing in Jasmin, too
	}
	// the value has blanks, as Python writes them: clients compare octets
	value := fmt.Sprintf(`{"balance": %s, "sms_count": "ND"}`, cmp.Or(q.Balance, `"ND"`))
	if q.rates() {
		if len(results) > 0 && results[0].Code == sms.BadDestination {
			return q.refuse(q.refusal(sms.BadDestination))
		}
		// 0.0, because clients may read a float only
		value = fmt.Sprintf(`{"unit_rate": %s, "submit_sm_count": %d}`, cmp.Or(q.UnitRate, "0.0"), q.parts)
	}
	if isREST(q.path) {
		return rest(http.StatusOK, map[string]json.RawMessage{"data": json.RawMessage(value)})
	}
	return &httpsms.Answer{Status: http.StatusOK, ContentType: "application/json", Body: []byte(value)}
}
