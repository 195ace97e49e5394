package admin

// NumberList is the status of a register of numbers.
type NumberList struct {
	Name    string `json:"name"`
	Entries int    `json:"entries" metric:"entries" help:"Numbers, prefixes and names of the list's file."`
	Added   int64  `json:"added" metric:"added" help:"Numbers that were added to the list beside its file: by opt-outs and by pmg list add."`
	Removed int64  `json:"removed" metric:"removed" help:"Numbers that were removed from it in the same way, whatever the file says."`
	Octets  int    `json:"octets" metric:"octets" help:"Memory that the entries of the file take."`
	Hits    int64  `json:"hits" metric:"hits_total" help:"Messages whose number was on the list: those of block were refused, those of allow and senders were not."`
	Replies int64  `json:"replies" metric:"replies_total" help:"Replies to mobiles whose text has added them to the list, or removed them (stop_reply, start_reply)."`
	Reloads int64  `json:"reloads" metric:"reloads_total" help:"Times that the file was read again because it had changed."`
	Faults  int64  `json:"faults" metric:"problems_total" help:"Times that the file, or the file of its changes, had a new problem. What was read before stays in force."`
	Problem string `json:"problem,omitempty"` // of the file as it is now
}

// lists returns the rows of the lists.
func (v *view) lists() (rows []NumberList) {
	for _, s := range v.gateway.Lists.Status() {
		rows = append(rows, NumberList{
			s.Name, s.Entries, s.Added, s.Removed, s.Octets, s.Hits, s.Replies, s.Reloads, s.Faults, s.Problem,
		})
	}
	return rows
}

// listMetrics returns the metrics that have the label list.
func listMetrics() []metric {
	return metricsOf(NumberList{}, "pmg_list_", []string{"list"}, func(s *Status, f func(any, ...string)) {
		for i := range s.Lists {
			f(&s.Lists[i], s.Lists[i].Name)
		}
	})
}
