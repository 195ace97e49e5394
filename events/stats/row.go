package stats

import "fmt"

// A key identifies a row: the hour, the account, the connector and the network of the counted events.
type key struct {
	hour                        int64 // hours since 1970
	account, connector, network string
}

// Counts are the counts of some events.
type Counts struct {
	figures [figures]int64
	reasons map[string]int64 // counts of messages that failed, were rejected or are unknown, by reason
}

// Figure returns the count of one of Figures.
func (c *Counts) Figure(name string) int64 {
	for f, n := range figureNames {
		if n == name {
			return c.figures[f]
		}
	}
	return 0
}

// Reasons returns the numbers of messages that failed, were rejected or are unknown, by reason.
func (c *Counts) Reasons() map[string]int64 { return c.reasons }

// Add adds other counts.
func (c *Counts) Add(other *Counts) {
	for f, n := range other.figures {
		c.figures[f] += n
	}
	for reason, n := range other.reasons {
		c.addReason(reason, n)
	}
}

func (c *Counts) addReason(reason string, n int64) {
	if c.reasons == nil {
		c.reasons = map[string]int64{}
	}
	c.reasons[reason] += n
}

// setFigure sets the count of a figure by its name, and reports whether there is such a figure.
func (c *Counts) setFigure(name string, n int64) bool {
	for f, known := range figureNames {
		if known == name {
			c.figures[f] = n
			return true
		}
	}
	return false
}

// A record is a row as the file contains it.
type record struct {
	Hour      int              `json:"hour"`
	Account   string           `json:"account,omitempty"`
	Connector string           `json:"connector,omitempty"`
	Network   string           `json:"network,omitempty"`
	Counts    map[string]int64 `json:"counts"`
	Reasons   map[string]int64 `json:"reasons,omitempty"`
}

func recordOf(k key, c *Counts) record {
	r := record{
		Hour: int(k.hour % 24), Account: k.account, Connector: k.connector, Network: k.network,
		Counts: map[string]int64{}, Reasons: c.reasons,
	}
	for f, n := range c.figures {
		if n != 0 {
			r.Counts[figureNames[f]] = n
		}
	}
	return r
}

// row returns the key and the counts of a record of a day.
func (r *record) row(day int64) (key, *Counts, error) {
	if r.Hour < 0 || r.Hour > 23 {
		return key{}, nil, fmt.Errorf("hour %d is not in a day", r.Hour)
	}
	c := &Counts{reasons: r.Reasons}
	for name, n := range r.Counts {
		if !c.setFigure(name, n) {
			return key{}, nil, fmt.Errorf("this version of pmg does not know the figure %q", name)
		}
	}
	return key{day*24 + int64(r.Hour), r.Account, r.Connector, r.Network}, c, nil
}
