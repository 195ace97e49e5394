package protocols

// Broadcasts handles messages to all mobiles of an area, which have the flag sms.Broadcast. They
// are carried as other messages are.
type Broadcasts interface {
	// TakesBroadcasts reports whether the peer can be sent broadcasts.
	TakesBroadcasts() bool
}

// NoBroadcasts implements Broadcasts for protocols that have none.
type NoBroadcasts struct{}

// TakesBroadcasts implements Broadcasts.
func (NoBroadcasts) TakesBroadcasts() bool { return false }
