package prices

import (
	"slices"
	"strings"

	"pmg/sms"
)

// A Row is the price of a destination at a time.
type Row struct {
	For     string      // a network, a country, + and the beginning of numbers, or *
	Network sms.Network // the network or the country; 0: neither
	Price   sms.Money
	Valid   bool      // false: the destination has no price yet
	Next    sms.Money // the price that is valid from a later time on
	From    int64     // that time, in Unix nanoseconds; 0: no later price is known
}

// Select returns the prices at a time of the wall clock whose destinations are selected, by destination. It returns most rows at
// most, and whether there are more.
func (l *List) Select(now int64, most int, selects func(*Row) bool) (rows []Row, more bool) {
	each(l, func(d destination, all []entry) {
		r := Row{For: d.String(), Network: d.network}
		if more || !selects(&r) {
			return
		}
		if len(rows) == most {
			more = true
			return
		}
		r.Price, r.Valid = at(all, now)
		for _, e := range all { // the latest comes first
			if e.from > now {
				r.Next, r.From = e.price, e.from
			}
		}
		rows = append(rows, r)
	})
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.For, b.For) })
	return rows, more
}
