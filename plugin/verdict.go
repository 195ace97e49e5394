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

// refusable are the codes that a message may be refused with. Their names are the statuses of verdicts.
var refusable = []sms.Code{
	sms.Rejected, sms.BadSource, sms.BadDestination, sms.BadLength, sms.BadParameter, sms.Throttled, sms.QueueFull,
	sms.TemporaryFailure, sms.SystemError,
}

// Statuses returns the names by which a message may be refused.
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
	Until  time.Time `json:"until,omitzero"`   // of Delay
	Why    string    `json:"why,omitempty"`    // for the sender, the log and the operator

	// Changes; nil: unchanged.
	From *string `json:"from,omitempty"` // an international number begins with '+'
	To   *string `json:"to,omitempty"`
	Text *string `json:"text,omitempty"`

	Tags []string `json:"tags,omitempty"` // tags to add to the message

	Network string `json:"network,omitempty"` // network of the number, MCC and MNC; "": the network of the table

	// At Network: a number whose network in the table is that of the recipient, and for how many seconds the answer may be
	// kept; 0: as long as the hook says.
	RoutingNumber string `json:"routing_number,omitempty"`
	Keep          int    `json:"keep,omitempty"`
}

// Bounds of a verdict.
const (
	MaxWhy     = 200 // octets
	MaxAddress = 64
	MaxText    = 16 << 10
	MaxTags    = 16

	maxRouting = 20
	mostKeep   = 366 * 24 * 3600
)

// Check returns the reason why a verdict cannot be carried out, nil if it can.
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
		return fmt.Errorf("it gives %d tags: %d are the most", len(v.Tags), MaxTags)
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
				"its tag %s must be small letters, digits and any of _.:-, at most %d, and not begin with held:, refused: or "+
					"changed: as marks do",
				Quote([]byte(tag)), sms.MaxTag,
			)
		}
	}
	return nil
}

// checkAt returns the reason why a verdict cannot be carried out at a hook, nil if it can.
func (v *Verdict) checkAt(hook string) error {
	changes := v.From != nil || v.To != nil || len(v.Tags) > 0 || v.Network != ""
	switch {
	case hook == Receipt && v.Do == Hold:
		return errors.New("its verdict is hold, which there is not for a receipt")
	case hook == Receipt && v.Network != "":
		return errors.New("it changes the network of a receipt, which is that of its message")
	case hook == Receipt && v.Text != nil:
		return errors.New("it changes the text of a receipt")
	case hook == Login && (v.Do == Delay || v.Do == Hold):
		return fmt.Errorf("its verdict is %s, which there is not for a login", v.Do)
	case hook == Login && (changes || v.Text != nil):
		return errors.New("it changes something, and a login has no message")
	case hook == Network && v.Do == Delay:
		return errors.New("its verdict is delay, which there is not for a number")
	case hook == Network && (v.From != nil || v.To != nil || len(v.Tags) > 0 || v.Text != nil):
		return errors.New("it changes something else than the network of a number")
	case hook != Network && (v.RoutingNumber != "" || v.Keep != 0):
		return errors.New("it has a routing_number or keep, which there are at the hook network alone")
	}
	return nil
}

// code returns the place of the verdict's status among those that are refusable; negative: it is none of them.
func (v *Verdict) code() int {
	return slices.IndexFunc(refusable, func(c sms.Code) bool { return c.String() == v.Status })
}

// Code returns the code with which the sender of a refused message is answered.
func (v *Verdict) Code() sms.Code { return refusable[max(v.code(), 0)] }

// Ends reports whether later plugins are not asked after this verdict.
func (v *Verdict) Ends() bool { return v.Do == Refuse || v.Do == Hold }

func isControl(r rune) bool { return r < ' ' || r == 0x7F }
