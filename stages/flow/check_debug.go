//go:build pmgdebug

package flow

// check panics if a job is used after its release, or if the table does not declare the edge that
// the job takes.
func (p *Pipeline[J]) check(from *row[J], to int, j *J) {
	p.pool.ref(j).alive()
	if to != from.index && from.to&(1<<to) == 0 {
		panic("flow: " + from.name + " hands a job to " + from.group[to].name + ", which the table does not declare")
	}
}

// checkNear panics if a shared row passes a job to a row of a group without naming the group.
func (p *Pipeline[J]) checkNear(from *row[J], to int) {
	if len(p.groups) > 1 && from.shared && !from.group[to].shared {
		panic("flow: " + from.name + " hands a job to " + from.group[to].name + " without naming a group")
	}
}
