//go:build pmgdebug

package flow

// check makes sure that a job is alive wherever it passes, and that it takes an
// edge the table declares.
func (p *Pipeline[J]) check(from *row[J], to int, j *J) {
	p.pool.ref(j).alive()
	if to != from.index && from.to&(1<<to) == 0 {
		panic("flow: " + from.name + " hands a job to " + p.rows[to].name + ", which the table does not declare")
	}
}
