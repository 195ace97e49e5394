package smsc

import (
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"mime"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pmg/internal/token"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/charset"
)

// MaxCallback is the largest body of a callback, in octets.
const MaxCallback = 1 << 20

// maxItems is how many receipts or messages a callback may bring.
const maxItems = 1000

// A callback is how receipts and messages from mobiles are brought.
type callback struct {
	listener string
	base     string // value of {receipt_url}
	secret   string
	networks []netip.Prefix
	reply    string
	receipts httpsms.ReceiptFields
	inbound  httpsms.InboundFields
	states   []wordState
}

// A wordState is the meaning of an SMSC's word.
type wordState struct {
	word    string // the word, in lower case
	begins  bool   // words that begin with this word mean the same
	state   sms.State
	ignored bool
}

// The kinds of callbacks, which are the ends of their paths.
const (
	Receipts = "receipts"
	Inbound  = "inbound"
)

// Path returns the path at which a listener takes callbacks of a kind for a connector.
func Path(connector, kind string) string { return "/from/" + connector + "/" + kind }

func (r *reader) callback(o *httpsms.CallbackOptions, connector string) callback {
	c := callback{
		listener: o.Listener, secret: o.Secret, networks: o.Networks, reply: o.Reply, receipts: o.Receipts,
		inbound: o.Inbound,
	}
	for _, text := range o.Receipts.States {
		c.states = append(c.states, r.wordState(text))
	}
	for _, p := range []struct{ option, value string }{
		{"callbacks.receipts.list", o.Receipts.List}, {"callbacks.inbound.list", o.Inbound.List},
	} {
		r.pointer(p.option, p.value)
	}
	if o.Listener == "" {
		if o.URL != "" || o.Secret != "" || len(o.Networks) > 0 {
			r.wrong("callbacks.listener", "must be given: the in connector with protocol: http that takes them")
		}
		return c
	}
	if o.Secret == "" && len(o.Networks) == 0 {
		r.wrong("callbacks.secret", "must be given, or networks: anybody could tell what became of messages")
	}
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
			r.wrong("callbacks.url", "must be a URL without user and query, such as https://pmg.example.net:8080")
		}
		c.base = strings.TrimSuffix(o.URL, "/") + Path(connector, Receipts)
	}
	return c
}

func (r *reader) wordState(text string) (s wordState) {
	word, name, ok := strings.Cut(text, "=")
	s.word, s.begins = strings.CutSuffix(strings.ToLower(word), "*")
	if s.ignored = name == "ignored"; s.ignored {
		return s
	}
	i := slices.IndexFunc(sms.States(), func(state sms.State) bool { return state.String() == name })
	if !ok || i < 0 {
		r.wrong(
			"callbacks.receipts.states",
			"must each be a word, = and a state: delivered, expired, deleted, undeliverable, accepted, unknown, "+
				"rejected, enroute, or ignored",
		)
		return s
	}
	s.state = sms.States()[i]
	return s
}

// ReceiptURL returns the URL that the receipt of a message is to call, empty if none can be.
func (c *SMSC) ReceiptURL(id uint64) string {
	if c.callback.base == "" {
		return ""
	}
	u := c.callback.base + "?message=" + sms.FormatID(id)
	if c.callback.secret != "" {
		u += "&token=" + url.QueryEscape(c.callback.secret)
	}
	return u
}

// A Callback is a request of an SMSC.
type Callback struct {
	smsc   *SMSC
	values url.Values
	json   document
	isJSON bool
}

// Admits reports whether a request, whose body need not have been read, is one of the SMSC: it shows the
// secret, and comes from an allowed address.
func (c *SMSC) Admits(r *httpsms.Request, from netip.Addr) bool {
	f := &c.callback
	if len(f.networks) > 0 &&
		!slices.ContainsFunc(f.networks, func(p netip.Prefix) bool { return p.Contains(from.Unmap().WithZone("")) }) {
		return false
	}
	return f.secret == "" || shows(r, f.secret)
}

// ReadCallback reads a request of the SMSC.
func (c *SMSC) ReadCallback(r *httpsms.Request) *Callback {
	k := &Callback{smsc: c}
	k.values, _ = url.ParseQuery(r.Query)
	media, _, _ := mime.ParseMediaType(r.Get("Content-Type"))
	if media == "application/x-www-form-urlencoded" {
		form, _ := url.ParseQuery(string(r.Body))
		for name, v := range form { // the form comes before the query
			if name != "token" {
				k.values[name] = v
			}
		}
	} else if len(r.Body) > 0 {
		k.json, k.isJSON = readDocument(r.Body)
	}
	return k
}

// shows reports whether a request shows a secret.
func shows(r *httpsms.Request, secret string) bool {
	query, _ := url.ParseQuery(r.Query)
	shown := query.Get("token")
	login := r.Get("Authorization")
	if bearer, ok := token.Bearer(login); ok {
		shown = bearer
	} else if _, password, ok := token.Basic(login); ok {
		shown = password
	}
	return subtle.ConstantTimeCompare([]byte(shown), []byte(secret)) == 1
}

// Reply returns the answer to a callback that was accepted.
func (c *SMSC) Reply() string { return c.callback.reply }

// Listener returns the name of the connector that takes callbacks.
func (c *SMSC) Listener() string { return c.callback.listener }

func (k *Callback) items(list string) ([]document, error) {
	all := []document{k.json}
	if list != "" && k.isJSON {
		in, ok := k.json.at(list)
		if _, isList := in.value.([]any); ok && isList {
			all = in.items()
		}
	}
	if len(all) > maxItems {
		return nil, errors.New("it brings more than 1000 together")
	}
	return all, nil
}

// value returns the value at a place of an item: a parameter, or the value at a JSON pointer.
func (k *Callback) value(item document, at string) (string, bool) {
	switch {
	case at == "":
		return "", false
	case at[0] != '/':
		return k.values.Get(at), k.values.Has(at)
	case !k.isJSON:
		return "", false
	}
	value, ok := item.at(at)
	if !ok {
		return "", false
	}
	return value.text()
}

// A Receipt is the content of a callback about a message.
type Receipt struct {
	ID, Word, Error string
	State           sms.State
	Ignored         bool // nobody has asked for the content of the call
}

// Receipts returns the receipts that a callback brings.
func (k *Callback) Receipts() ([]Receipt, error) {
	f := &k.smsc.callback
	items, err := k.items(f.receipts.List)
	if err != nil {
		return nil, err
	}
	var all []Receipt
	for _, item := range items {
		var r Receipt
		var hasID, hasState bool
		r.ID, hasID = k.value(item, f.receipts.ID)
		r.Word, hasState = k.value(item, f.receipts.State)
		r.Error, _ = k.value(item, f.receipts.Error)
		if !hasID || !hasState || r.ID == "" || len(r.ID) > maxID || len(r.Word) > maxID || len(r.Error) > maxID {
			return nil, errors.New("a receipt must have " + f.receipts.ID + " and " + f.receipts.State)
		}
		if text, ok := k.value(item, f.receipts.Text); ok {
			r.readText(text)
		}
		r.State, r.Ignored = k.smsc.stateOf(r.Word)
		all = append(all, r)
	}
	return all, nil
}

// readText reads the text of a receipt of an SMSC (SMPP 3.4 appendix B), which says more than the SMSC's own words.
func (r *Receipt) readText(text string) {
	if _, rest, ok := strings.Cut(text, "stat:"); ok {
		if word, _, _ := strings.Cut(rest, " "); usualStates[strings.ToLower(word)] != sms.NoState {
			r.Word = word
		}
	}
	if _, rest, ok := strings.Cut(text, "err:"); ok && r.Error == "" {
		r.Error, _, _ = strings.Cut(rest, " ")
		r.Error = r.Error[:min(len(r.Error), maxError)]
	}
}

// maxError is how much is read of an error in a text.
const maxError = 20

// stateOf returns the state that a word means, sms.NoState if the word is unknown.
func (c *SMSC) stateOf(word string) (s sms.State, ignored bool) {
	word = strings.ToLower(word)
	for _, w := range c.callback.states {
		if w.word == word || w.begins && strings.HasPrefix(word, w.word) {
			return w.state, w.ignored
		}
	}
	return usualStates[word], false
}

// usualStates are the meanings of words that many interfaces use: the words of SMPP, and those of docs/events.md.
var usualStates = func() map[string]sms.State {
	all := map[string]sms.State{
		"undelivered": sms.StateUndeliverable, "failed": sms.StateUndeliverable, "undeliverable": sms.StateUndeliverable,
		"canceled": sms.StateDeleted, "cancelled": sms.StateDeleted,
		"sent": sms.StateEnroute, "sending": sms.StateEnroute, "queued": sms.StateEnroute, "pending": sms.StateEnroute,
		"buffered": sms.StateEnroute,
	}
	for _, s := range sms.States() {
		all[strings.ToLower(httpsms.Word(s))] = s
		all[s.String()] = s
	}
	return all
}()

// Fill makes m the receipt of an SMSC.
func (r *Receipt) Fill(m *sms.Message) sms.Code {
	report := sms.Report{ID: []byte(r.ID), State: r.State, Err: []byte(r.Error)}
	if r.State == sms.NoState {
		report.Word = []byte(r.Word)
	}
	m.SetReport(sms.Address{}, sms.Address{}, &report)
	return sms.OK
}

// Messages returns the messages from mobiles that a callback brings.
func (k *Callback) Messages() ([]httpsms.Order, error) {
	f := &k.smsc.callback.inbound
	items, err := k.items(f.List)
	if err != nil {
		return nil, err
	}
	var all []httpsms.Order
	for _, item := range items {
		var o httpsms.Order
		from, hasFrom := k.value(item, f.From)
		to, hasTo := k.value(item, f.To)
		if !hasFrom || !hasTo {
			return nil, errors.New("a message must have " + f.From + " and " + f.To)
		}
		o.From, o.To = from, to
		if err := k.text(&o, item, f); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// text reads the text of a message.
func (k *Callback) text(o *httpsms.Order, item document, f *httpsms.InboundFields) (err error) {
	if udh, ok := k.value(item, f.UDH); ok && udh != "" {
		if o.Header = []byte(udh); int(udh[0])+1 != len(udh) {
			if o.Header, err = hex.DecodeString(udh); err != nil {
				return errors.New(f.UDH + " must be a user data header")
			}
		}
	}
	if octets, ok := k.value(item, f.Octets); ok {
		if o.Text, err = hex.DecodeString(octets); err != nil {
			return errors.New(f.Octets + " must be hexadecimal digits")
		}
		coding, _ := k.value(item, f.Coding)
		o.Alphabet = alphabetOf(coding)
		return nil
	}
	text, ok := k.value(item, f.Text)
	if !ok {
		return errors.New("a message must have " + f.Text + f.Octets)
	}
	name, _ := k.value(item, f.Charset)
	switch strings.ToUpper(name) {
	case "UTF-16BE", "UCS-2", "UCS-2BE":
		o.Text, o.Alphabet = []byte(text), sms.UCS2
		return nil
	case "ISO-8859-1", "LATIN1":
		o.Text, o.Alphabet = []byte(text), sms.Latin1
		return nil
	case "8-BIT", "BINARY":
		o.Text, o.Alphabet = []byte(text), sms.Binary
		return nil
	}
	if !utf8.ValidString(text) {
		return errors.New(f.Text + " must be UTF-8")
	}
	c := charset.Best([]byte(text), 0)
	if o.Alphabet = sms.Default; c.Coding == charset.UCS2 {
		o.Alphabet = sms.UCS2
	}
	o.Text, _ = c.Encode(nil, []byte(text), charset.Replace)
	return nil
}

// alphabetOf returns the alphabet of a data_coding (SMPP 3.4 §5.2.19), which may be empty.
func alphabetOf(coding string) sms.Alphabet {
	n, err := strconv.Atoi(coding)
	switch {
	case coding == "" || err == nil && n == 0:
		return sms.Default
	case n == 1:
		return sms.ASCII
	case n == 3:
		return sms.Latin1
	case n == 6:
		return sms.Cyrillic
	case n == 7:
		return sms.Hebrew
	case n == 8:
		return sms.UCS2
	}
	return sms.Binary
}
