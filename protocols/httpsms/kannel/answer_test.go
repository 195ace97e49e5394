package kannel

import (
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// Each result has its answer, to the octet.
func TestAnswer(t *testing.T) {
	t.Parallel()
	const good, again, never = "202 0: Accepted for delivery", "503 Temporal failure, try again later.", "403 Not routable. Do not try again."
	f := func(want string, codes ...sms.Code) {
		t.Helper()
		var results []httpsms.Result
		for _, c := range codes {
			results = append(results, httpsms.Result{Code: c})
		}
		checkAnswer(t, want, Answer(results), want)
	}
	f(good, sms.OK)
	f(again, sms.Throttled)
	f(again, sms.QueueFull)
	f(again, sms.TemporaryFailure)
	f(again, sms.SystemError)
	f(again, sms.Faulty)
	f(never, sms.BadDestination)
	f(never, sms.Rejected)
	f("400 Sender missing and no global set, rejected", sms.BadSource)
	f("400 Charset or body misformed, rejected", sms.BadLength)
	f("400 Charset or body misformed, rejected", sms.BadParameter)
	f("400 Validity field misformed, rejected", sms.BadValidity)
	f("400 Deferred field misformed, rejected", sms.BadSchedule)
	// several receivers
	f(good, sms.BadDestination, sms.OK, sms.QueueFull)
	f(again, sms.BadDestination, sms.QueueFull)
	f(never, sms.BadDestination, sms.BadLength)
	f("400 Charset or body misformed, rejected", sms.BadLength, sms.BadDestination)
	for _, code := range sms.Codes() {
		if a := Answer([]httpsms.Result{{Code: code}}); (a.Status == 202) != (code == sms.OK) {
			t.Errorf("%s: %d %s", code, a.Status, a.Body)
		}
	}
	checkAnswer(t, "no login", Denied(), "403 Authorization failed for sendsms")
	checkAnswer(t, "no such URL", NotCalled(), "400 DLR-URL field misformed, rejected")
	checkAnswer(t, "another path", Unknown(), "404 Unknown request.")
}
