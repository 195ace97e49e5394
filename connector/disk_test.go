package connector

import (
	"pmg/connector/queue"
	"pmg/sms"
)

// A disk holds the bodies of messages, as a store does.
type disk struct {
	bodies     map[uint64]sms.Message
	wanted     map[*Lane][]uint64 // asked for and not read yet
	reading    map[uint64]*Lane   // which lane has asked for a body that is not read yet
	unreadable []uint64
	reads      int
}

// addDisk gives a desk's lane a disk. Messages are kept on it alone where the memory in
// use is over keep.
func (d *desk) addDisk(keep int64) *disk {
	d.disk = &disk{bodies: map[uint64]sms.Message{}, wanted: map[*Lane][]uint64{}, reading: map[uint64]*Lane{}}
	d.used.SetKeep(keep)
	d.used.SetLimit(1 << 40)
	return d.disk
}

func (k *disk) asked(l *Lane, ids []uint64) {
	k.reads += len(ids)
	for _, id := range ids {
		if k.reading[id] == l {
			panic("a body is asked for twice")
		}
		k.reading[id] = l
		k.wanted[l] = append(k.wanted[l], id)
	}
}

// write puts a message on the disk.
func (k *disk) write(m *sms.Message) { k.bodies[m.ID] = *m }

// read reads up to n bodies that were asked for, and returns how many those were.
func (d *desk) read(n int) int {
	ids := d.disk.wanted[d.Lane]
	n = min(n, len(ids))
	var messages []*sms.Message
	var missing []uint64
	for _, id := range ids[:n] {
		delete(d.disk.reading, id)
		body, ok := d.disk.bodies[id]
		if !ok {
			missing = append(missing, id)
			continue
		}
		m := d.pool.Get()
		copyMessage(m, &body)
		messages = append(messages, m)
	}
	d.disk.wanted[d.Lane] = ids[n:]
	d.Queues.Loaded(d.now, messages, missing)
	return n
}

// copyMessage copies what a test sets.
func copyMessage(m, from *sms.Message) {
	m.ID, m.Origin, m.Arrived, m.DeliverAt, m.NotBefore, m.Expires = from.ID, from.Origin, from.Arrived, from.DeliverAt, from.NotBefore, from.Expires
	m.Priority, m.Attempts, m.Losses, m.Throttles = from.Priority, from.Attempts, from.Losses, from.Throttles
}

// waitingOf returns what the queue knows of a message.
func waitingOf(m *sms.Message) queue.Waiting {
	return queue.Waiting{
		ID: m.ID, Priority: m.Priority, Arrived: m.Arrived, DeliverAt: m.DeliverAt, NotBefore: m.NotBefore, Expires: m.Expires,
	}
}
