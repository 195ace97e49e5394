package kannel

import (
	"strings"
	"testing"

	"pmg/cmd/pmg/explain"
	"pmg/config"
)

// A sms-service becomes the account of a server that is called, and routes to it, those with keywords first.
func TestServices(t *testing.T) {
	t.Parallel()
	const services = "\ngroup = sms-service\nkeyword = default\nget-url = \"http://192.0.2.1/any?t=%a\"\nmax-messages = 0\n" +
		"\ngroup = sms-service\nkeyword = Stop\naliases = \"end;quit;no way\"\npost-url = \"http://192.0.2.1/stop\"\nfaked-sender = 123\nstrip-keyword = true\n" +
		"\ngroup = sms-service\nkeyword = only\naccepted-smsc = \"B\"\nget-url = \"http://192.0.2.1/b\"\n" +
		"\ngroup = sms-service\nkeyword = time\ntext = \"What time is it?\"\n"
	smscs := smpp1 + "port = 1\ntransceiver-mode = 1\n" + smpp2 + "port = 2\ntransceiver-mode = 1\n" + "\ngroup = smsc\nsmsc = smpp\nsmsc-id = tx\nhost = j\nport = 3\nsmsc-username = u\nsmsc-password = p\n"
	d := translate(t, core1+box1+user1+secret+smscs+services)
	made := string(d.Bytes())
	for _, want := range []string{"group sms-service, kannel.conf:", "What time is it?", `keyword "no way"`, "strip-keyword", "service-stop"} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(made, "#", "")), " "), want) {
			t.Errorf("%q is not in\n%s", want, made)
		}
	}
	c := load(t, d)
	accounts := map[string]config.Account{}
	for _, a := range c.Accounts {
		accounts[a.SystemID] = a
	}
	if a := accounts["service-stop"]; a.WebhookForm != "kannel-post" || !a.WebhookReply || a.Webhook != "http://192.0.2.1/stop" || a.Password != "generated" || a.Rewrite[0].Set != "123" {
		t.Errorf("%+v", a)
	}
	if a := accounts["service-default"]; a.WebhookForm != "kannel-get" || a.WebhookReply {
		t.Errorf("%+v", a)
	}
	for _, q := range []struct{ connector, text, want string }{
		{"a", "stop it", "service-stop"}, {"b", "QUIT", "service-stop"}, {"a", "hello", "service-default"}, {"a", "only", "service-default"}, {"b", "only", "service-only"},
	} {
		answer, err := explain.Ask(c, drivers, explain.Question{Connector: q.connector, From: "46701", To: "123", Text: q.text})
		if err != nil || !strings.Contains(answer, "events of account "+q.want+" on connector sendsms") {
			t.Errorf("%+v: %v\n%s", q, err, answer)
		}
	}
	if strings.Contains(made, `from: "tx"`) {
		t.Errorf("a transmitter brings messages:\n%s", made)
	}
	if made := string(translate(t, core1+smscs+services).Bytes()); strings.Contains(made, "webhook:") {
		t.Errorf("without sendsms:\n%s", made)
	}
}

// What is to be encrypted without a certificate says so, and a prefix is denied once.
func TestImportDetails(t *testing.T) {
	t.Parallel()
	made := string(translate(t, core1+"\ngroup = smsbox\nsendsms-port = 13013\nsendsms-port-ssl = 1\n"+user1+secret).Bytes())
	if strings.Contains(made, `""`) || !strings.Contains(made, "DECIDE: encryption is on") || !strings.Contains(made, "tls: {min_version") {
		t.Error(made)
	}
	made = string(translate(t, core1+box1+user1+secret+"denied-prefix = \"99\"\nforced-smsc = a\n"+"\ngroup = sendsms-user\nusername = two\n"+secret+"forced-smsc = b\n"+
		smpp1+"port = 1\ndenied-prefix = \"99\"\nallowed-smsc-id = a\n"+smpp2+"port = 2\n").Bytes())
	if strings.Count(made, `deny: ["99*"]`) != 1 {
		t.Error(made)
	}
}

// Of a regular expression the words are taken where it has nothing else.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	for regex, want := range map[string]string{
		"^(stop|stopp)$": "stop stopp", "^(a|b)( .*)?$": "a b", "^STOP": "", "^stop$": "stop", "^stop( |$)": "stop", `^stop\b`: "stop",
		"stop": "", "^st.p$": "", "^(stop|.*)$": "", "^(a|b)c$": "", "": "", "^(stop)(.*)$": "", "^stop.*$": "", "^(a|b)( .*)$": "",
		"^[a-z]+$": "", `^(win|won)(\s.*)?$`: "win won", "^stop .*$": "",
	} {
		if got := strings.Join(wordsOf(regex), " "); got != want {
			t.Errorf("%s: %q, want %q", regex, got, want)
		}
	}
}
