package bench

import (
	"context"
	"slices"
)

// Matrix measures every setting of the options, in rounds. It replaces earlier results of
// the same settings.
func (r *Results) Matrix(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	points, err := o.measure(ctx, o.settings(), func(s Setting) (*run, error) { return o.runGateway(ctx, s) })
	for _, p := range points {
		if len(p.Samples)+len(p.Problems) == 0 {
			continue // ctx ended before its first run
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

// measure makes a run of each setting in every round, and every other round in reverse
// order, so that changes with time affect all settings alike. A run that fails is recorded
// as a problem of its point. When ctx ends, measure returns the results so far.
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
