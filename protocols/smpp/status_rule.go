package smpp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// A StatusRule defines the meaning of statuses in the answers of an SMSC. Package config describes the tags.
type StatusRule struct {
	Status []string      `yaml:"status" required:"yes" live:"rebind" doc:"The statuses: numbers such as 0x45, and ranges such as 0x400-0x4ff."`
	Is     string        `yaml:"is" required:"yes" enum:"throttled|temporary|failover|permanent|session" live:"rebind" doc:"throttled: too fast; the connector pauses for throttle_pause. temporary: it is sent again, as retry says. failover: it goes to the next target that is up; without one, as temporary. permanent: it ends. session: the session ends; the message keeps its place."`
	Pause  time.Duration `yaml:"pause" default:"0s" range:"0s..24h" live:"rebind" doc:"How long nothing is sent by the connector after such a status, such as 1m; 0s: throttle_pause after throttled, else not at all."`
}

// A statusRange is a compiled StatusRule.
type statusRange struct {
	from, to uint32
	code     sms.Code
	failover bool
	pause    time.Duration
}

// codesOfRules are the codes of the words of rules.
var codesOfRules = map[string]sms.Code{
	"throttled": sms.Throttled, "temporary": sms.TemporaryFailure, "permanent": sms.Rejected, "session": sms.BadState,
	failover: sms.TemporaryFailure,
}

// failover is the word of rules with which another target gets the message.
const failover = "failover"

// CompileStatuses compiles the connector's rules about statuses, and returns their problems.
func (o *ConnectorOptions) CompileStatuses() (problems []protocols.Problem) {
	o.statuses = nil
	for i, r := range o.Statuses {
		for n, text := range r.Status {
			from, to, isRange := strings.Cut(text, "-")
			if !isRange {
				to = from
			}
			low, err := parseStatus(from)
			high, err2 := parseStatus(to)
			if err != nil || err2 != nil || low == StatusOK || low > high {
				problems = append(problems, protocols.Problem{Option: fmt.Sprintf("statuses[%d].status[%d]", i, n),
					Text: fmt.Sprintf(
						"must be a status other than 0 such as 0x45, or a range such as 0x400-0x4ff, not %q", text,
					)})
				continue
			}
			o.statuses = append(o.statuses, statusRange{low, high, codesOfRules[r.Is], r.Is == failover, r.Pause})
		}
	}
	return problems
}

func parseStatus(text string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 0, 32)
	return uint32(n), err
}

// ruleOf returns the rule about a command_status, or nil.
func (o *ConnectorOptions) ruleOf(status uint32) *statusRange {
	for i := range o.statuses {
		if r := &o.statuses[i]; r.from <= status && status <= r.to {
			return r
		}
	}
	return nil
}

// codeOf returns the code of a command_status in an answer of the connector's peers.
func (o *ConnectorOptions) codeOf(status uint32) sms.Code {
	if r := o.ruleOf(status); r != nil {
		return r.code
	}
	return codeOf(status)
}

// AfterStatus returns the effects of a status, according to the rules, in addition to its code: whether
// another target gets the message, and how long the connector sends nothing.
func (o *ConnectorOptions) AfterStatus(status uint32) (failover bool, pause time.Duration) {
	if r := o.ruleOf(status); r != nil {
		return r.failover, r.pause
	}
	return false, 0
}

// answered returns the action of an answer to one of our requests. A status that we are not logged in, or
// should not be, applies to every message in the session (§5.1.3).
func (s *session) answered(p *PDU, code sms.Code) protocols.Action {
	a := protocols.Action{Kind: protocols.Answered, Sequence: p.SequenceNumber, Code: code, Status: p.CommandStatus}
	switch code {
	case sms.BadState, sms.AlreadyBound, sms.BindFailed:
		a.Session = s.peer == smsc
	}
	return a
}
