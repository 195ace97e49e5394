package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"pmg/config"
	"pmg/events"
	"pmg/gateway/operate"
	"pmg/gateway/privacy"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// A lookup returns the driver that has a command.
type lookup func(command string) (protocols.Driver, error)

// forgetStopped removes numbers from the files of a gateway that does not run.
func forgetStopped(
	ctx context.Context, cfg *config.Config, driver lookup, of *privacy.Numbers, dry bool, say func(string),
) (_ *privacy.Report, err error) {
	p := &privacy.Places{Decoder: pdulog.NewDecoder(driver), Left: privacy.LeftBy(cfg)}
	for i := range cfg.Lists {
		p.Left = append(p.Left, privacy.Left{
			Where: "list " + cfg.Lists[i].Name, Why: "it was not read: pmg list show has what it knows of the number",
		})
	}
	if cfg.PDULog.Dir != "" {
		p.PDULogs = pdulog.NewDir(cfg.PDULog.Dir, pdulog.Options{})
	}
	if cfg.Events.Dir != "" {
		files, err := events.OpenFiles(cfg.Events.Dir)
		if err == nil {
			defer files.Close()
			p.Events = files
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	s, err := openStore(cfg)
	if err != nil {
		return nil, err
	}
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
		p.Notes, p.Messages = &notes{store.EraserOf(s), s}, &messages{s, p}
		if err := p.Messages.(*messages).events(); err != nil {
			return nil, err
		}
	}
	return p.Forget(ctx, of, dry, say)
}

// openStore opens the store of a gateway that does not run, nil if there is none.
func openStore(cfg *config.Config) (store.Store, error) {
	if cfg.Store.Engine == config.MemoryStore || cfg.Cluster.Node != "" {
		return nil, nil
	}
	if files, err := os.ReadDir(cfg.Store.Dir); errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
		return nil, nil
	}
	return store.Open(cfg.Store.Dir, store.Options{Keys: cfg.Store.Keys()})
}

// notes are those of a store.
type notes struct {
	eraser store.Eraser
	store  store.Store
}

// EachNote implements store.Eraser.
func (n *notes) EachNote(ctx context.Context, f func(*store.Note) error) error {
	return n.eraser.EachNote(ctx, f)
}

// IsStill implements store.Eraser: nobody else changes it.
func (n *notes) IsStill(*store.Note) (bool, error) { return true, nil }

// Purge implements store.Eraser.
func (n *notes) Purge(ctx context.Context, change func() error) error {
	return n.eraser.Purge(ctx, change)
}

// Write implements privacy.Notes.
func (n *notes) Write(change func(*store.Batch)) error {
	var b store.Batch
	change(&b)
	return n.store.Commit(&b)
}

// messages are those of a store whose gateway does not run, which alone can end them.
type messages struct {
	store  store.Store
	places *privacy.Places
}

// Cancel implements privacy.Messages: it counts the messages, which stay.
func (m *messages) Cancel(ctx context.Context, is func(*sms.Message) bool, _ bool) (cancelled, underWay int64, err error) {
	for _, state := range []string{"", operate.StateDead} {
		selected := operate.Selection{State: state, Is: is}
		for from := uint64(0); ; {
			page, err := operate.ListStored(m.store, selected, from, operate.PageMatches)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return 0, 0, err
			}
			underWay += int64(len(page.Messages))
			if from, selected.UpTo = page.Next, page.UpTo; from == 0 {
				break
			}
		}
	}
	return 0, underWay, nil
}

// events records that there are events which are in no file yet.
func (m *messages) events() error {
	n := 0
	_, err := m.store.Events(0, math.MaxInt, func(uint64, []byte) error { n++; return nil })
	if n > 0 {
		why := fmt.Sprintf("%d events are in no file yet: start the gateway, and ask it", n)
		m.places.Left = append(m.places.Left, privacy.Left{Where: "store", Why: why})
	}
	return err
}
