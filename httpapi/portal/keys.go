package portal

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/internal/browser"
	"pmg/protocols/httpsms/own"
)

// Limits of keys, and of changes of keys: all accounts share the history of the managed files.
const (
	mostKeys    = 50
	mostChanges = 20 // changes of an account in a period, by its users with manage
	mostOwn     = 10 // changes of password, address and second factor in a period, by a user without manage
	period      = time.Hour
	mostChanged = 10_000 // accounts, or users, whose changes are remembered
)

// fixedKeys says why keys cannot be changed.
const fixedKeys = "The keys of this account are in the configuration of the gateway, and are changed there."

// A keysModel is the model of the page of keys.
type keysModel struct {
	Keys    []config.Key
	Managed bool   // the page can change the keys
	New     string // the new key, which is shown once
	Wrong   string
	Name    string // name of the key that the form asked for
	Expires string
}

// A keysPage is the page of keys.
type keysPage struct{ visit *visit }

func keysOf(v *visit) (any, *own.Problem) { return keysPage{v}.model(), nil }

func (k keysPage) model() keysModel {
	v := k.visit
	return keysModel{Keys: v.x.Account.Config().Logins.Keys, Managed: v.isManaged()}
}

// isManaged reports whether the pages can change the account.
func (v *visit) isManaged() bool { return v.isStored(v.who.account) }

// isStored reports whether the gateway stores an account itself, so that pages can change it.
func (v *visit) isStored(account string) bool {
	cfg := v.rooms().Node.Config()
	return v.rooms().Edit != nil && cfg.Managed.Dir != "" && cfg.Defined(managed.Accounts, account) == ""
}

// change makes or revokes a key.
func (k keysPage) change() {
	v := k.visit
	form, ok := v.form(mostForm)
	if !ok {
		return
	}
	m := k.model()
	if !m.Managed {
		v.wrong(http.StatusConflict, v.T(fixedKeys))
		return
	}
	if name := form.Get("revoke"); name != "" {
		k.revoke(name)
		return
	}
	k.make(form, m)
}

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

func (k keysPage) make(form url.Values, m keysModel) {
	v := k.visit
	m.Name, m.Expires = form.Get("name"), form.Get("expires")
	o := editor.Options{"name": m.Name}
	day, err := time.Parse(time.DateOnly, m.Expires)
	switch {
	case !keyName.MatchString(m.Name):
		m.Wrong = v.T("The name must be letters, digits, '-' and '_', 64 at most.")
	case slices.ContainsFunc(m.Keys, func(k config.Key) bool { return k.Name == m.Name }):
		m.Wrong = v.T("There is already a key of this name.")
	case len(m.Keys) >= mostKeys:
		m.Wrong = v.T("There are too many keys: revoke one first.")
	case m.Expires != "" && (err != nil || !day.After(time.Now())):
		m.Wrong = v.T("The day must be in the future, such as 2037-12-31.")
	}
	if m.Wrong != "" {
		v.page(http.StatusUnprocessableEntity, "keys", "Keys", m)
		return
	}
	if m.Expires != "" {
		o["expires"] = m.Expires
	}
	if s := form.Get("scope"); s == config.SendScope || s == config.ReadScope {
		o["scopes"] = []any{s}
	}
	key, change := editor.AddingKey(v.who.account, o)
	if !v.change("keys/make", m.Name, change) {
		return
	}
	m = k.model()
	m.New = key
	v.page(http.StatusOK, "keys", "Keys", m)
}

func (k keysPage) revoke(name string) {
	v := k.visit
	if !v.change("keys/revoke", name, editor.RemovingKey(v.who.account, name)) {
		return
	}
	v.site.sessions.Notify(v.x.Request, browser.Notice{Text: v.T("Key %s is revoked.", name)})
	v.redirect(Base + "keys")
}

// errTooMany is the error of a change of an account that has made too many.
var errTooMany = errors.New("too many changes")

// edit changes a key or a user of the account; name is its name.
func (v *visit) edit(act, name string, change func([]byte) ([]byte, error)) (err error) {
	counted, by := &v.site.portal.changes, v.who.account
	if v.scope < manage { // such a user changes what is the user's own, and must not use up the account's changes
		counted, by = &v.site.portal.personal, v.who.owner()
	}
	if !counted.take(by) {
		err = errTooMany
	} else {
		_, err = v.rooms().Edit(v.x.Request.Context(), editor.Request{
			File: managed.OptionsFile(managed.Accounts, v.who.account), Match: editor.Exists,
			By: v.String() + " from " + v.x.Conn.Remote.String(), Make: change,
		})
	}
	result := "ok"
	if err != nil {
		result = err.Error()
	}
	v.record(act, map[string]string{"account": v.who.account, "name": name}, result)
	return err
}

// change makes an edit. If it fails it answers the request, and does not show problems of other options.
func (v *visit) change(act, name string, change func([]byte) ([]byte, error)) bool {
	err := v.edit(act, name, change)
	var refusal *editor.Refusal
	switch {
	case err == nil:
		return true
	case errors.Is(err, errTooMany):
		v.wait(int(period.Seconds()))
		v.wrong(http.StatusTooManyRequests, v.T("There were too many changes. Try again in an hour."))
	case errors.As(err, &refusal) && refusal.Status == http.StatusNotFound:
		v.wrong(http.StatusNotFound, v.T("There is none of this name."))
	case errors.As(err, &refusal) && refusal.Status == http.StatusServiceUnavailable:
		v.wait(5)
		v.wrong(http.StatusServiceUnavailable, v.T("The gateway is busy with another change. Try again in a moment."))
	default:
		v.rooms().Node.Log.Warn().Err(err).Str("account", v.who.account).Str("user", v.who.user).
			Msg("cannot change a key, a user or a template")
		v.wrong(http.StatusConflict, v.T("This cannot be changed now. The gateway's log has the reason."))
	}
	return false
}

// changes counts the changes of accounts, or of users.
type changes struct {
	now  func() time.Time
	most int // changes of an account in a period

	mu sync.Mutex
	of map[string]*recent
}

func newChanges(most int) changes {
	return changes{now: time.Now, most: most, of: map[string]*recent{}}
}

// recent is the number of an account's changes in a period.
type recent struct {
	began time.Time
	n     int
}

// take counts a change of an account, and reports false if the account has made too many.
func (c *changes) take(account string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if len(c.of) >= mostChanged {
		for name, r := range c.of {
			if now.Sub(r.began) >= period {
				delete(c.of, name)
			}
		}
	}
	r := c.of[account]
	if r == nil || now.Sub(r.began) >= period {
		r = &recent{began: now}
		c.of[account] = r
	}
	r.n++
	return r.n <= c.most
}
