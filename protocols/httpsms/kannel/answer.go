package kannel

import (
	"net/http"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// name is the name and version that Kannel's clients and servers expect.
const name = "Kannel/1.4.5"

// answer returns an answer with Kannel's headers. Clients compare the body, so that the body is only the text.
func answer(status int, text string) *httpsms.Answer {
	return &httpsms.Answer{
		Status:      status,
		ContentType: "text/html",
		Header:      [][2]string{{"Pragma", "no-cache"}, {"Cache-Control", "no-cache"}, {"Server", name}},
		Body:        []byte(text),
	}
}

// acceptedAnswer is the answer to most requests. Nothing changes it.
var acceptedAnswer = answer(http.StatusAccepted, "0: Accepted for delivery")

// Denied returns the answer to a request with wrong credentials, or from a forbidden address.
func Denied() *httpsms.Answer {
	return answer(http.StatusForbidden, "Authorization failed for sendsms")
}

// NotCalled returns the answer to a request whose dlr-url may not be called.
func NotCalled() *httpsms.Answer { return answer(http.StatusBadRequest, misformed("DLR-URL")) }

// NotAllowed returns the answer to a request with another method than GET and POST.
func NotAllowed() *httpsms.Answer {
	return answer(http.StatusBadRequest, "Method not supported, rejected")
}

// TooLarge returns the answer to a request with more than MaxRequest octets.
func TooLarge() *httpsms.Answer {
	return answer(http.StatusRequestEntityTooLarge, "Request is too large, rejected")
}

// Busy returns the answer to a request for which there is no room now.
func Busy() *httpsms.Answer {
	return answer(http.StatusServiceUnavailable, "Temporal failure, try again later.")
}

// Unknown returns the answer to a request for another path.
func Unknown() *httpsms.Answer { return answer(http.StatusNotFound, "Unknown request.") }

// Answer returns the answer to a request whose orders had these results. The answer reports success if any
// message was accepted: a client that repeated the request would send some messages twice. Otherwise it
// allows another attempt if that may help any message.
func Answer(results []httpsms.Result) *httpsms.Answer {
	first := sms.Rejected
	for i := len(results) - 1; i >= 0; i-- {
		first = results[i].Code
	}
	again := false
	for _, r := range results {
		if r.Code == sms.OK {
			return acceptedAnswer
		}
		again = again || r.Code.Retryable() || r.Code == sms.Faulty
	}
	if again {
		return Busy()
	}
	switch first {
	case sms.BadSource:
		return answer(http.StatusBadRequest, "Sender missing and no global set, rejected")
	case sms.BadLength, sms.BadParameter, sms.Malformed:
		return answer(http.StatusBadRequest, "Charset or body misformed, rejected")
	case sms.BadValidity:
		return answer(http.StatusBadRequest, misformed("Validity"))
	case sms.BadSchedule:
		return answer(http.StatusBadRequest, misformed("Deferred"))
	}
	return answer(http.StatusForbidden, "Not routable. Do not try again.")
}
