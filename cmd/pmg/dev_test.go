package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testkit/smpppeer"
	"pmg/internal/testkit/testutil"
)

// A screen is what a command has printed so far.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A devTrial is a pmg dev that runs.
type devTrial struct {
	t      *testing.T
	user   string // the account that asks
	out    *screen
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan error
}

// startDev runs pmg dev on free ports until it says how it is used.
func startDev(t *testing.T, flags ...string) *devTrial {
	t.Helper()
	d := &devTrial{t: t, user: "dev", out: new(screen), ended: make(chan error, 1)}
	d.ctx, d.cancel = context.WithCancel(t.Context())
	t.Cleanup(d.cancel)
	cmd := newRootCommand()
	cmd.SetOut(d.out)
	cmd.SetErr(d.out)
	cmd.SetArgs(append([]string{"dev", "--http", "0", "--smpp", "0", "--pages", "0", "--phones", "0", "--receipt-delay", "1ms"}, flags...))
	go func() { d.ended <- cmd.ExecuteContext(d.ctx) }()
	testutil.Eventually(t, "it says how it is used", func() bool {
		select {
		case err := <-d.ended:
			t.Fatalf("it has ended: %v", err)
		default:
		}
		return strings.Contains(d.out.String(), "has sent the message.")
	})
	return d
}

// find returns what it has printed in the place of the group of a pattern.
func (d *devTrial) find(pattern string) string {
	d.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(d.out.String())
	if m == nil {
		d.t.Fatalf("no %s in %s", pattern, d.out)
	}
	return m[1]
}

func (d *devTrial) ask(method, url, contentType, body string) string {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.ctx, method, url, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.SetBasicAuth(d.user, "secret")
	r.Header.Set("Content-Type", contentType)
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(answer.Body)
	return string(b)
}

// end interrupts it.
func (d *devTrial) end() {
	d.t.Helper()
	d.cancel()
	if err := <-d.ended; err != nil {
		d.t.Error(err)
	}
}

// pmg dev takes a message by the curl command that it prints, reports its end and the reply, shows both on the phone,
// and ends.
func TestDev(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	api, phones := d.find(`(http://\S+)/v1/messages`), d.find(`phones +(http://\S+)/`)
	if said := d.ask("POST", api+"/v1/messages", "application/json", `{"from": "1234", "to": "+46700000008", "text": "Hello"}`); !strings.Contains(said, `"queued"`) {
		t.Fatal(said)
	}
	told := ""
	testutil.Eventually(t, "the end and the reply are told", func() bool {
		told += d.ask("GET", api+"/v1/events", "application/json", "")
		return strings.Contains(told, "message.delivered") && strings.Contains(told, "inbound.received")
	})
	testutil.Eventually(t, "the phone shows both", func() bool {
		page := d.ask("GET", phones+"/texts?number=46700000008", "", "")
		return strings.Contains(page, "<p>Hello</p>") && strings.Contains(page, "<p>Re: Hello</p>")
	})
	d.end()
}

// pmg dev --webhook calls a server on this machine: with the end of a message, and with a reply from the page of phones.
func TestDevWebhook(t *testing.T) {
	t.Parallel()
	told := new(screen)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Signature") != "" {
			_, _ = told.Write(b)
		}
	}))
	defer server.Close()
	d := startDev(t, "--webhook", server.URL+"/sms")
	api, phones := d.find(`(http://\S+)/v1/messages`), d.find(`phones +(http://\S+)/`)
	d.find(`signed with (whsec_\S+)`)
	if said := d.ask("POST", api+"/v1/messages", "application/json", `{"from": "1234", "to": "+46700000001", "text": "Hello"}`); !strings.Contains(said, `"queued"`) {
		t.Fatal(said)
	}
	testutil.Eventually(t, "the end is told", func() bool { return strings.Contains(told.String(), "message.delivered") })
	d.ask("POST", phones+"/reply", "application/x-www-form-urlencoded", "number=46700000001&to=1234&client=dev&text=Stop")
	testutil.Eventually(t, "the reply is told", func() bool {
		return strings.Contains(told.String(), "inbound.received") && strings.Contains(told.String(), `"Stop"`)
	})
	d.end()
}

// What pmg dev says to try next does what it says: a client of SMPP gets the reply of a mobile, STOP and START, an account without
// money, an SMSC that throttles, and the command for the status.
func TestDevNext(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	api, phones, clients := d.find(`(http://\S+)/v1/messages`), d.find(`phones +(http://\S+)/`), d.find(`SMPP +(\S+) `)
	send := func() string {
		return d.ask("POST", api+"/v1/messages", "application/json", `{"from": "1234", "to": "+46700000001", "text": "Hello"}`)
	}
	mobile := func(client, text string) {
		d.ask("POST", phones+"/reply", "application/x-www-form-urlencoded", "number=%2B46700000001&to=1234&client="+client+"&text="+text)
	}
	mobile("dev", "STOP")
	testutil.Eventually(t, "STOP refuses the next message", func() bool { return strings.Contains(send(), "opted-out") })
	testutil.Eventually(t, "the mobile is answered", func() bool {
		return strings.Contains(d.ask("GET", phones+"/texts?number=46700000001", "", ""), "Goodbye.")
	})
	mobile("dev", "START")
	testutil.Eventually(t, "START takes it again", func() bool { return strings.Contains(send(), `"price":"0.04"`) })
	d.user = "poor"
	for i, want := range []string{"queued", "queued", "no-credit"} {
		if said := send(); !strings.Contains(said, want) {
			t.Errorf("message %d without money: %s", i+1, said)
		}
	}
	if numbers := d.ask("GET", phones+"/numbers", "", ""); strings.Count(numbers, "<li>") != 1 {
		t.Errorf("one person has several phones: %s", numbers)
	}
	d.ask("POST", phones+"/script", "application/x-www-form-urlencoded", "script=throttled")
	mobile("smpp", "Hi")
	c := smpppeer.Client{Addr: clients, SystemID: "smpp", Password: "secret"}
	if err := c.Send(t.Context(), 1); err != nil {
		t.Error(err)
	}
	testutil.Eventually(t, "the client of SMPP gets the text of a mobile", func() bool {
		out, err := pmg(t, "log -n -1 --command deliver_sm --dir "+d.find(`--dir (\S+)`))
		return err == nil && strings.Contains(out, `short_message="Hi"`)
	})
	if out, err := pmg(t, "status --address "+d.find(`pmg status --address (\S+)`)); err != nil || !strings.Contains(out, "sandbox-smpp") {
		t.Errorf("%v: %s", err, out)
	}
	d.end()
}

// A port that is taken is said, with the flags that name others.
func TestDevPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	if _, err := pmg(t, "dev --smpp 0 --pages 0 --phones 0 --http "+port); err == nil || !strings.Contains(err.Error(), "name other ports") {
		t.Error(err)
	}
}
