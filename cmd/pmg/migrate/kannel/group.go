package kannel

import "pmg/cmd/pmg/migrate/draft"

// newGroup returns a group. If an option is given twice, the last value counts, as for Kannel.
func newGroup(of *Group, remarks draft.Remarker) *draft.Source {
	g := draft.NewSource(of.Kind, of.At, remarks)
	for _, o := range of.Options {
		if before, twice := g.Put(o.Name, o.Value); twice && before != o.Value {
			remarks.Decide("%s is given twice: the one in %s counts, as for Kannel", o.Name, o.At)
		}
	}
	return g
}
