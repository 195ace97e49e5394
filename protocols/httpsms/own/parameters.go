package own

import (
	"maps"
	"strings"
)

// Bounds on parameters. A parameter may occur many times, so that a short text could become any length.
const (
	maxParameters = 64
	maxFilled     = 16 << 10 // octets of a text with its parameters filled in
)

// readParameters reads the values that replace {{name}} in the text. A message of a batch also has the parameters of the batch.
func (m *Message) readParameters(s *scanner) {
	all := maps.Clone(m.parameters)
	if all == nil {
		all = map[string]string{}
	}
	s.object(func(name string) {
		if all[name] = s.text(); len(all) > maxParameters {
			s.wrong("too-many", "must be at most %d parameters", maxParameters)
			delete(all, name)
		}
	})
	m.parameters = all
}

// fillText replaces the parameters in the text. A name in braces without a value is refused, because no
// mobile should show it. Braces after a backslash are characters.
func (m *Message) fillText(wrong func(member, code, format string, args ...any)) {
	if !strings.Contains(m.text, "{{") {
		return
	}
	var filled strings.Builder
	for rest := m.text; rest != ""; {
		before, behind, found := strings.Cut(rest, "{{")
		if literal, escaped := strings.CutSuffix(before, `\`); found && escaped {
			filled.WriteString(literal + "{{")
			rest = behind
			continue
		}
		name, after, closed := strings.Cut(behind, "}}")
		if !closed {
			before, after = rest, ""
		}
		filled.WriteString(before)
		if closed {
			value, ok := m.parameters[strings.TrimSpace(name)]
			if !ok {
				wrong("parameters", "missing", `must have %.64q, which the text has; for braces in the text write \{{ for {{`, strings.TrimSpace(name))
				return
			}
			filled.WriteString(value)
		}
		if m.parameters != nil && filled.Len() > maxFilled {
			wrong("text", "too-long", "must be at most %d octets with its parameters", maxFilled)
			return
		}
		rest = after
	}
	m.text = filled.String()
}
