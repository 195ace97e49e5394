package plugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pmg/sms"
)

// The decisions of a verdict.
const (
	Pass   = "pass"   // the message continues with the changes; "" means the same
	Refuse = "refuse" // the sender gets an answer with Status
	Delay  = "delay"  // the message does not leave before Until
	Hold   = "hold"   // the message is accepted, and waits until an operator decides
)

// refusable are the codes for refused messages. Their names are the statuses of verdicts.
var refusable = []sms.Code{
	sms.Rejected, sms.BadSource, sms.BadDestination, sms.BadLength, sms.BadParameter, sms.Throttled, sms.QueueFull,
	sms.TemporaryFailure, sms.SystemError,
}

// Statuses returns the names of the codes for refused messages.
func Statuses() (names []string) {
	for _, c := range refusable {
		names = append(names, c.String())
	}
	return names
}

// A Verdict is a plugin's decision about a message.
type Verdict struct {
	Do     string    `json:"do,omitempty"`
	Status string    `json:"status,omitempty"` // Refuse: one of Statuses; "": rejected
	Until  time.Time `json:"until,omitzero"`   // time to which Delay delays
	Why    string    `json:"why,omitempty"`    // reason, for the sender, the log and the operator

	// Changes of the message; nil: unchanged.
	From *string `json:"from,omitempty"` // an international number begins with '+'
	To   *string `json:"to,omitempty"`
	Text *string `json:"text,omitempty"`

	Tags []string `json:"tags,omitempty"` // tags added to the message

	Network string `json:"network,omitempty"` // network of the number, MCC and MNC; "": the network of the table

	// At Network: a number that the table has the recipient's network for; and the time in seconds for which the
	// answer may be cached, 0: the time of the hook.
	RoutingNumber string `json:"routing_number,omitempty"`
	Keep          int    `json:"keep,omitempty"`
}

// Limits of a verdict.
const (
	MaxWhy     = 200 // octets
	MaxAddress = 64
	MaxText    = 16 << 10
	MaxTags    = 16

	maxRouting = 20
	mostKeep   = 366 * 24 * 3600
)

// Check returns the reason why a verdict is not valid, nil if it is.
func (v *Verdict) Check() error {
	switch {
	case !slices.Contains([]string{"", Pass, Refuse, Delay, Hold}, v.Do):
		return fmt.Errorf("its verdict is %s: it must be pass, refuse, delay or hold", Quote([]byte(v.Do)))
	case v.Status != "" && v.Do != Refuse:
		return fmt.Errorf("its verdict has a status without being refuse")
	case v.Status != "" && v.code() < 0:
		return fmt.Errorf("its status is %s: it must be one of %s", Quote([]byte(v.Status)), strings.Join(Statuses(), ", "))
	case v.Until.IsZero() == (v.Do == Delay):
		return fmt.Errorf("its verdict must have until with delay, and with nothing else")
	case len(v.Why) > MaxWhy || !utf8.ValidString(v.Why):
		return fmt.Errorf("its why must be at most %d octets of UTF-8", MaxWhy)
	case len(v.Tags) > MaxTags:
		return fmt.Errorf("it has %d tags: at most %d are allowed", len(v.Tags), MaxTags)
	}
	if _, ok := sms.ReadNetwork(v.Network); !ok && v.Network != "" {
		return fmt.Errorf("its network %s must be MCC and MNC, 5 or 6 digits, or MCC alone", Quote([]byte(v.Network)))
	}
	if n := strings.TrimPrefix(v.RoutingNumber, "+"); len(n) > maxRouting || strings.Trim(n, "0123456789") != "" {
		return fmt.Errorf("its routing_number %s must be at most %d digits", Quote([]byte(v.RoutingNumber)), maxRouting)
	}
	if v.Keep < 0 || v.Keep > mostKeep {
		return fmt.Errorf("its keep is %d: it must be seconds, at most %d", v.Keep, mostKeep)
	}
	for _, a := range []*string{v.From, v.To} {
		if a != nil && (len(*a) > MaxAddress || !utf8.ValidString(*a) || strings.ContainsFunc(*a, isControl)) {
			return fmt.Errorf("its address %s must be at most %d characters", Quote([]byte(*a)), MaxAddress)
		}
	}
	if v.To != nil && strings.Trim(*v.To, "+") == "" {
		return fmt.Errorf("it removes the recipient")
	}
	if v.Text != nil && (len(*v.Text) > MaxText || !utf8.ValidString(*v.Text)) {
		return fmt.Errorf("its text must be at most %d octets of UTF-8", MaxText)
	}
	for _, tag := range v.Tags {
		if !sms.IsTag(tag) {
			return fmt.Errorf(
				"its tag %s must be at most %d small letters, digits and any of _.:-, and not begin with held:, refused: or "+
					"changed: as marks do",
				Quote([]byte(tag)), sms.MaxTag,
			)
		}
	}
	return nil
}

// checkAt returns the reason why a verdict is not valid at a hook, nil if it is.
func (v *Verdict) checkAt(hook string) error {
	changes := v.From != nil || v.To != nil || len(v.Tags) > 0 || v.Network != ""
	switch {
	case hook == Receipt && v.Do == Hold:
		return errors.New("its verdict is hold, which there is not for a receipt")
	case hook == Receipt && v.Network != "":
		return errors.New("it changes the network of a receipt, which is the network of the message that was sent")
	case hook == Receipt && v.Text != nil:
		return errors.New("it changes the text of a receipt")
	case hook == Login && (v.Do == Delay || v.Do == Hold):
		return fmt.Errorf("its verdict is %s, which is not possible for a login", v.Do)
	case hook == Login && (changes || v.Text != nil):
		return errors.New("it changes a message, but a login has none")
	case hook == Network && v.Do == Delay:
		return errors.New("its verdict is delay, which is not possible at the hook network")
	case hook == Network && (v.From != nil || v.To != nil || len(v.Tags) > 0 || v.Text != nil):
		return errors.New("it changes a field other than network: at the hook network only network can be changed")
	case hook != Network && (v.RoutingNumber != "" || v.Keep != 0):
		return errors.New("it has a routing_number or keep, which are possible only at the hook network")
	}
	return nil
}

// code returns the index of the verdict's status in refusable; negative: it is not there.
func (v *Verdict) code() int {
	return slices.IndexFunc(refusable, func(c sms.Code) bool { return c.String() == v.Status })
}

// Code returns the code with which the sender of a refused message is answered.
func (v *Verdict) Code() sms.Code { return refusable[max(v.code(), 0)] }

// Ends reports whether later plugins are not asked after this verdict.
func (v *Verdict) Ends() bool { return v.Do == Refuse || v.Do == Hold }

func isControl(r rune) bool { return r < ' ' || r == 0x7F }
