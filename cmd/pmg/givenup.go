package main

import "fmt"

// exitTemporary is the exit status if the store has failed, or if a gateway that was stopped has given up accepted
// messages: EX_TEMPFAIL of sysexits.h. A supervisor should start pmg again.
const exitTemporary = 75

// givenUp returns an error if the gateway has stopped without sending all accepted messages.
func (s *server) givenUp() error {
	queued, scheduled := s.gateway.Pending(), s.gateway.Scheduled()
	if queued+scheduled == 0 {
		return nil
	}
	if s.gateway.Keeper.Durable() {
		s.log.Info().Int64("queued", queued).Int64("scheduled", scheduled).Msg(
			"messages that wait stay in the store; the next start sends them",
		)
		return nil
	}
	s.log.Error().Int64("queued", queued).Int64("scheduled", scheduled).
		Msg("stopped with messages that were accepted and not sent; the memory store forgets them")
	return exitError{
		fmt.Errorf(
			"cannot send %d accepted messages before the end, %d of them scheduled for later: they are given up",
			queued+scheduled, scheduled,
		),
		exitTemporary,
	}
}
