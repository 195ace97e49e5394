package webhook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/connector"
	"pmg/gateway/mail"
	"pmg/gateway/request"
	"pmg/gateway/webhooks"
	"pmg/httpapi/apitest"
	"pmg/httpapi/server"
	"pmg/internal/testkit/testutil"
	"pmg/pdulog"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A rig is the service over a gateway whose account "shop" has a webhook. The test is its SMSC.
type rig struct {
	*apitest.Site
	t       *testing.T
	hook    *apitest.Hook // that is the account's webhook
	service *Service
	api     *connector.Connector
	mail    *mail.Sender
	lines   func() string // the pdu log of the connector
	n       int           // messages so far
}

// newRig makes a rig. shop has further options of the account, rows are other accounts, routes may be empty.
func newRig(t *testing.T, hook *apitest.Hook, shop, routes string, rows ...string) *rig {
	t.Helper()
	return newRigOf(t, hook, yaml(hook, shop, routes, rows...))
}

// newRigOf makes a rig of a configuration.
func newRigOf(t *testing.T, hook *apitest.Hook, yaml string) *rig {
	t.Helper()
	r := &rig{t: t, hook: hook, Site: apitest.New(t, yaml)}
	g := r.Gateway
	r.api = g.Table.Connector("api")
	dir := t.TempDir()
	var err error
	if r.api.PDULog, err = pdulog.NewDir(dir, pdulog.Options{Log: zerolog.Nop()}).Open("api"); err != nil {
		t.Fatal(err)
	}
	log := server.NewLog(r.api, &g.Node.Clock)
	rooms := roomsOf(g)
	r.mail = mail.New(g.Node)
	rooms.Mail = r.mail
	r.service = New(rooms, r, NewEvents(roomsOf(g), func(c *connector.Connector) *server.Log {
		if c == r.api {
			return log
		}
		return nil
	}))
	g.Webhooks.Begin(r.service)
	t.Cleanup(r.service.Close)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.mail.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	r.lines = func() string {
		log.Close()
		if err := r.api.PDULog.Close(); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "api.log"))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	return r
}

// yaml returns the configuration of a rig.
func yaml(hook *apitest.Hook, shop, routes string, rows ...string) string {
	first := fmt.Sprintf(`{system_id: shop, password: secret, bind: [transmitter], webhook: "%s/hook", webhook_key: %s%s}`, hook.URL, key, shop)
	return apitest.YAML(strings.Join(append([]string{first}, rows...), ", "), "", "public_name: operator", routes)
}

// submit submits a message of an account, and returns its id. Its reference is the number of the message.
func (r *rig) submit(account string, notify sms.Notify, context sms.Context) string {
	r.t.Helper()
	r.n++
	context.Reference = fmt.Sprintf("order %d", r.n)
	order := httpsms.Order{From: "1234", To: "+46700000001", Text: []byte("hello"), Notify: notify, Context: context}
	g := r.Gateway
	from := &connector.Source{Connector: r.api, Account: g.Logins.Accounts().Account(account), Origin: g.Node.Origins.Of(account, "api")}
	result := g.Requests.Submit(r.t.Context(), from, []request.Item{{Fill: order.Fill}})[0]
	if result.Code != sms.OK {
		r.t.Fatalf("%+v", result)
	}
	return sms.FormatID(result.ID)
}

// What a client wants to hear.
const (
	theEnd = sms.NotifySuccess | sms.NotifyFailure
	all    = theEnd | sms.NotifySent
)

// delivered submits a message that the SMSC delivers, and returns its id.
func (r *rig) delivered() string {
	r.t.Helper()
	id := r.submit("shop", theEnd, sms.Context{})
	r.delivers()
	return id
}

// delivers accepts and delivers the message as the SMSC.
func (r *rig) delivers() {
	r.t.Helper()
	id := fmt.Sprintf("abc%d", r.n)
	r.SMSC.Accept(id)
	testutil.Eventually(r.t, "it has left", func() bool { return r.Gateway.Keeper.Batches.Sync() == nil && r.left() })
	r.SMSC.Receipt(id, sms.StateDelivered)
}

// left reports whether the SMSC has been sent all messages.
func (r *rig) left() bool {
	return r.Gateway.Table.Connector("operator").Stats.Sent.Load() == int64(r.n)
}

// row returns what operators see of the server of the account's webhook.
func (r *rig) row() webhooks.Row {
	for _, row := range r.Gateway.Webhooks.Rows("shop") {
		if row.Endpoint == r.hook.URL {
			return row
		}
	}
	return webhooks.Row{}
}

// attempts returns the attempts to deliver what is about a message, the latest first.
func (r *rig) attempts(id string) []webhooks.Attempt {
	return r.Gateway.Webhooks.Attempts(webhooks.Filter{Account: "shop", ID: id, Limit: 1000, Replies: true})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testutil.Eventually(t, what, ok)
}
