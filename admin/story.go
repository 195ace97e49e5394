package admin

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pmg/admin/access"
	"pmg/config"
	"pmg/gateway/operate"
	"pmg/gateway/webhooks"
	"pmg/pdulog"
	"pmg/pdulog/story"
	"pmg/sms"
)

// A Story is the history of a message.
type Story struct {
	Message
	Steps    []StoryStep             `json:"steps"`
	Waits    *operate.StoredMessage  `json:"waits,omitempty"`    // queue entry of the message; nil: the message does not wait
	Receipts []operate.StoredMessage `json:"receipts,omitempty"` // queue entries of receipts or events
	Attempts []webhooks.Attempt      `json:"attempts,omitempty"` // remembered calls of the client's webhook, the latest first
	Others   []Message               `json:"others,omitempty"`   // other messages in the same PDUs: the parts of a long message
	PDUs     []StoryPDU              `json:"pdus"`
	Cut      string                  `json:"cut,omitempty"`
	Texts    bool                    `json:"texts"`            // texts are shown
	Plugin   string                  `json:"plugin,omitempty"` // the plugin that decided last, and refuse, hold or change
	Verdict  string                  `json:"verdict,omitempty"`
	Tags     []string                `json:"tags,omitempty"`      // tags that plugins have given the message
	Network  string                  `json:"network,omitempty"`   // MCC and MNC
	Money    *StoryMoney             `json:"money,omitempty"`     // nil: nothing is known of what the message costs
	InMemory bool                    `json:"in_memory,omitempty"` // the store has only parked messages: Waits may be missing
}

// StoryMoney is what a message costs.
type StoryMoney struct {
	Price        string `json:"price,omitempty"`  // what the account was charged, or what is reserved while the message waits
	Refund       string `json:"refund,omitempty"` // what the account got back
	Currency     string `json:"currency,omitempty"`
	Cost         string `json:"cost,omitempty"` // what the SMSC charges
	CostCurrency string `json:"cost_currency,omitempty"`
}

// A StoryStep is one event of a story.
type StoryStep struct {
	At        time.Time  `json:"at"`
	What      story.What `json:"what"`
	Says      string     `json:"says"` // the step as text
	Account   string     `json:"account,omitempty"`
	Connector string     `json:"connector,omitempty"`
	Session   string     `json:"session,omitempty"`
	Status    string     `json:"status,omitempty"` // status of an answer
	Meaning   string     `json:"meaning,omitempty"`
	SMSCID    string     `json:"smsc_id,omitempty"`
	State     string     `json:"state,omitempty"`
	PDU       *int       `json:"pdu,omitempty"` // index of the PDU that shows the step
}

// A StoryPDU is a line of the pdu log.
type StoryPDU struct {
	Line string `json:"line"`
	Text string `json:"text,omitempty"` // text of the message; its length for users who may not see texts
	Hex  string `json:"hex,omitempty"`  // octets of the message, for users who may see texts
}

// Message returns the story of the message with an id. With ?text=1 the story includes texts.
func (s *Server) Message(r *http.Request, id string) (*Story, error) {
	q, err := storyQueryOf(r, strings.ToLower(id))
	if err != nil {
		return nil, err
	}
	number, err := sms.ParseID(q.What)
	if err != nil {
		return nil, refuse(http.StatusNotFound, err.Error())
	}
	q.What = sms.FormatID(number)
	texts := r.FormValue("text") != ""
	access.MarkAudited(r)
	if access.Named(r, "messages/"+q.What); texts {
		access.Named(r, "messages/"+q.What+" with texts")
		if !access.CallerOf(r).SeesTexts() {
			return nil, refuse(http.StatusForbidden, "cannot show the texts of messages: that needs scope operate")
		}
	}
	q.IsID, q.Account = true, ""
	ctx, done, err := s.searcher.begin(r)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := s.searcher.find(ctx, q, mostFollowed, texts)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found.Stories, func(one *story.Story) bool { return one.ID == q.What })
	if i < 0 || len(found.Stories[i].Steps) == 0 && found.Stories[i].Waits == nil {
		return nil, refuse(
			http.StatusNotFound,
			strings.TrimSpace("nothing is known about message "+q.What+" in this time. "+s.searcher.cutOf(found)),
		)
	}
	one := found.Stories[i]
	m := &Story{
		Steps: []StoryStep{}, PDUs: []StoryPDU{}, Message: s.searcher.messageOf(one), Waits: one.Waits,
		Plugin: one.Plugin, Verdict: one.Verdict, Tags: one.Tags, Network: one.Network,
		Cut: s.searcher.cutOf(found), Texts: texts, InMemory: !s.view.gateway.Keeper.Durable(),
	}
	m.Money = storyMoneyOf(one, m.Account, s.view.gateway.Node.Config())
	m.Attempts = s.view.gateway.Webhooks.Attempts(webhooks.Filter{ID: one.ID, Limit: mostFollowed, Replies: texts})
	if m.Receipts = receiptsOf(ctx, s.view.gateway.Operate, number, m.Account); ctx.Err() != nil {
		m.Cut = cmp.Or(m.Cut, tooLate(found.From))
	}
	for _, other := range found.Stories {
		if other != one && len(other.Steps) > 0 && len(m.Others) < mostFollowed {
			m.Others = append(m.Others, s.searcher.messageOf(other))
		}
	}
	if s.tellStory(m, one, found.Lines); texts {
		access.MarkAuditedNow(r)
	}
	return m, nil
}

// storyMoneyOf returns what a message costs, nil if nothing is known.
func storyMoneyOf(one *story.Story, account string, cfg *config.Config) *StoryMoney {
	text := func(amount sms.Money) string {
		if amount == 0 {
			return ""
		}
		return amount.String()
	}
	m := StoryMoney{Price: text(one.Price), Refund: text(one.Refund), Cost: text(one.Cost)}
	if one.Waits != nil && m.Price == "" {
		m.Price, _, _ = strings.Cut(one.Waits.Price, " ")
	}
	if m == (StoryMoney{}) {
		return nil
	}
	m.Currency, m.CostCurrency = cfg.Currencies(account, one.By)
	return &m
}

// tellStory adds the steps and the PDUs.
func (s *Server) tellStory(m *Story, one *story.Story, lines [][]byte) {
	d := pdulog.NewDecoder(s.searcher.driverOf)
	place := map[string]int{}
	for _, line := range lines[:min(len(lines), mostFound)] {
		if e, err := pdulog.Parse(line); err == nil {
			place[string(line)] = len(m.PDUs)
			m.PDUs = append(m.PDUs, storyPDU(d, &e, m.Texts))
		}
	}
	if len(lines) > mostFound {
		m.Cut = cmp.Or(m.Cut, "Some PDUs are not shown: choose a shorter time.")
	}
	for i := range one.Steps {
		step := &one.Steps[i]
		told := StoryStep{
			At: step.At, What: step.What, Says: step.Says(), Account: step.Account, Connector: step.Connector,
			SMSCID: step.PeerID, State: step.State,
		}
		if step.Instance > 0 {
			told.Session = step.Connector + "/" + strconv.Itoa(step.Instance)
		}
		if step.Status.Value != 0 || step.Status.Name != "" {
			told.Status, told.Meaning = step.Status.String(), s.searcher.means(step)
		}
		if n, ok := place[string(step.Line)]; ok && step.Line != nil {
			told.PDU = &n
		}
		m.Steps = append(m.Steps, told)
	}
}

// storyPDU returns the form of a line that is shown.
func storyPDU(d *pdulog.Decoder, e *pdulog.Entry, texts bool) (p StoryPDU) {
	text, ok := d.Text(e)
	if !texts {
		if p.Line = string(d.AppendMasked(nil, e)); ok {
			p.Text = fmt.Sprintf("[%d characters]", utf8.RuneCountInString(text))
		}
		return p
	}
	p.Line, p.Text = string(d.AppendLine(nil, e)), text
	if line, err := d.AppendHex(nil, e); err == nil {
		p.Hex = strings.TrimSpace(string(line[strings.LastIndexByte(strings.TrimSpace(string(line)), ' ')+1:]))
	}
	return p
}

// eachStored calls f for each stored message whose id is at least from, until ctx ends.
func eachStored(
	ctx context.Context, operations *operate.Operations, sel operate.Selection, from uint64, f func(*operate.StoredMessage),
) {
	for {
		page, err := operations.ListStored(sel, from, mostFound)
		if err != nil || ctx.Err() != nil {
			return
		}
		for i := range page.Messages {
			f(&page.Messages[i])
		}
		if from, sel.UpTo = page.Next, page.UpTo; from == 0 {
			return
		}
	}
}

// receiptsOf returns the receipts and events about a message of an account that wait, or were not taken in
// time. They are newer than the message.
func receiptsOf(ctx context.Context, operations *operate.Operations, id uint64, account string) (all []operate.StoredMessage) {
	if account == "" {
		return nil
	}
	known := binary.BigEndian.AppendUint64(nil, id) // the id as reports contain it
	for _, state := range []string{"", operate.StateDead} {
		eachStored(ctx, operations, operate.Selection{
			Account: account, Kind: "receipt", State: state, Has: known,
		}, id+1, func(m *operate.StoredMessage) {
			if m.About == sms.FormatID(id) {
				all = append(all, *m)
			}
		})
	}
	return all
}
