package bench

import (
	"context"
	"slices"
)

// Matrix measures every setting of the options, in rounds. What there is of them is
// replaced.
func (r *Results) Matrix(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	points, err := o.measure(ctx, o.settings(), func(s Setting) (*run, error) { return o.runGateway(ctx, s) })
	for _, p := range points {
		if len(p.Samples)+len(p.Problems) == 0 {
			continue // it was not its turn yet
		}
		same := func(q Point) bool { return q.Setting == p.Setting }
		if i := slices.IndexFunc(r.Points, same); i >= 0 {
			r.Points[i] = p
		} else {
			r.Points = append(r.Points, p)
		}
	}
	return err
}

// measure makes a run of each setting in every round, every other round in
// reverse, so that what changes with time touches all alike. A run that fails is a
// problem of its point. When ctx ends, so do the runs, and what there is is given.
func (o *Options) measure(ctx context.Context, settings []Setting, runOf func(Setting) (*run, error)) ([]Point, error) {
	points := make([]Point, len(settings))
	total := len(settings) * o.Rounds
	for i := range total {
		round, at := i/len(settings), i%len(settings)
		if round%2 == 1 {
			at = len(settings) - 1 - at
		}
		p := &points[at]
		p.Setting = settings[at]
		o.progress(i, total, p.Setting.String())
		r, err := runOf(p.Setting)
		if err != nil && ctx.Err() != nil {
			return points, ctx.Err()
		}
		if err != nil {
			p.Problems = append(p.Problems, err.Error())
			continue
		}
		p.Samples = append(p.Samples, r.sample)
		p.Stages = r.stages
	}
	o.progress(total, total, "done")
	return points, nil
}
