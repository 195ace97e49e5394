package operate

import (
	"context"
	"slices"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// cancel ends messages, and returns how many of them were waiting. It keeps parts of a long message until all parts are found.
func (o *Operation) cancel(ctx context.Context, all []*operand) (n int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	whole, complete := o.sortParts(all)
	_, err = o.withdraw(ctx, whole, func(now int64, s *connector.Share, t *operand, m *sms.Message) {
		n++
		o.operations.deleted(now, s.Lane, t.found, m)
	})
	for _, t := range whole {
		if err == nil && t.state.Aside != store.InLane && o.cancelAside(t) {
			n++
		}
	}
	for _, parts := range complete {
		if err == nil {
			var ended bool
			if ended, err = o.cancelParts(ctx, parts); ended {
				n += len(parts)
			}
		}
	}
	if err == nil {
		err = o.operations.sync()
	}
	return n, err
}

// sortParts returns the single messages, and the long messages whose parts are all found by now. A long message is not
// cancelled if a part has left, because the mobile would get half a text, and that part would never be completed.
func (o *Operation) sortParts(all []*operand) (whole []*operand, complete [][]*operand) {
	for _, t := range all {
		if t.message.Parts <= 1 {
			whole = append(whole, t)
			continue
		}
		if o.parts == nil {
			o.parts = map[uint64][]*operand{}
		}
		id := t.message.WholeID()
		if o.parts[id] = append(o.parts[id], t); len(o.parts[id]) == int(t.message.Parts) {
			complete = append(complete, o.parts[id])
			delete(o.parts, id)
		}
	}
	return whole, complete
}

// cancelParts ends all parts of a long message, or none if one has left or is under way. It withdraws them from their lanes
// first, so that none leaves meanwhile.
func (o *Operation) cancelParts(ctx context.Context, parts []*operand) (ended bool, err error) {
	type part struct {
		*operand
		share *connector.Share
		m     *sms.Message // nil: the body is only on disk
	}
	var taken []part
	left, err := o.withdraw(ctx, parts, func(_ int64, s *connector.Share, t *operand, m *sms.Message) {
		taken = append(taken, part{t, s, m})
	})
	ended = len(left) == 0 && !slices.ContainsFunc(parts, func(t *operand) bool { return t.sent })
	for _, p := range taken {
		if ended {
			o.operations.deleted(o.operations.node.Clock.Now(), p.share.Lane, p.found, p.m)
			continue
		}
		if p.m == nil {
			o.changer.giveBack(p.share, p.found)
			continue
		}
		o.put(p.share, p.m)
	}
	for _, t := range parts {
		if ended && t.state.Aside != store.InLane {
			o.cancelAside(t)
		}
	}
	return ended, err
}

// cancelAside ends a message that is put aside, unless an operator has changed it since it was found.
func (o *Operation) cancelAside(t *operand) bool {
	d := o.operations
	d.keep.Changing.Lock()
	defer d.keep.Changing.Unlock()
	var e store.Entry
	if ok, err := d.keep.Index.Get(t.id, &e); err != nil || !ok {
		return false
	}
	if f := newFound(&e); f.err != nil || f.state.Aside != t.state.Aside {
		return false
	}
	d.deletedAside(t.found)
	return true
}
