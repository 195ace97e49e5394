package portal

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"pmg/config"
	"pmg/internal/token"
)

// Limits of second factors.
const (
	codeTime    = 30 * time.Second // time of a code
	offerTime   = 15 * time.Minute // time to set up the secret that a page has offered
	mostOffered = 10_000           // users whose offers and codes are remembered
	mostWrong   = 30               // wrong codes of a user in wrongTime, from all addresses together
	wrongTime   = time.Hour
)

// codes are the codes of second factors, each of which counts once, and the secrets that pages have offered to users. Both are
// forgotten when the gateway stops.
type codes struct {
	now func() time.Time // set before the first request

	mu sync.Mutex
	of map[string]*factor
}

// A factor is what is remembered of the second factor of a user.
type factor struct {
	offered *otp.Key // secret that a page has offered; nil: none
	seen    time.Time
	used    int64 // number of the last code that counted
	wrong   int   // wrong codes since began
	began   time.Time
}

// factor returns what is remembered of a user. The caller holds the lock.
func (c *codes) factor(owner string) *factor {
	now := c.now()
	if len(c.of) >= mostOffered {
		for name, f := range c.of {
			if now.Sub(f.seen) > wrongTime {
				delete(c.of, name)
			}
		}
	}
	f := c.of[owner]
	if f == nil {
		f = &factor{}
		c.of[owner] = f
	}
	if now.Sub(f.seen) > offerTime {
		f.offered = nil
	}
	f.seen = now
	return f
}

// offer returns the secret that a user may set up. site and name are what an authenticator shows beside the codes.
func (c *codes) offer(owner, site, name string) (*otp.Key, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.factor(owner)
	if f.offered != nil {
		return f.offered, nil
	}
	var err error
	f.offered, err = totp.Generate(totp.GenerateOpts{Issuer: site, AccountName: name})
	return f.offered, err
}

// forget forgets the secret that was offered to a user.
func (c *codes) forget(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.factor(owner).offered = nil
}

// use reports whether a code is that of a secret now, or of 30 seconds before or after, and counts for the first time. After
// mostWrong wrong ones none counts until wrongTime has passed: there are a million codes, and a password that was stolen gives as
// many tries as there are addresses.
func (c *codes) use(owner, secret, code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.factor(owner)
	if c.now().Sub(f.began) > wrongTime {
		f.began, f.wrong = c.now(), 0
	}
	if f.wrong >= mostWrong {
		return false
	}
	now := c.now().Unix() / int64(codeTime.Seconds())
	for n := max(now-1, f.used+1); n <= now+1; n++ {
		o := hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}
		if ok, err := hotp.ValidateCustom(code, uint64(n), secret, o); err == nil && ok {
			f.used = n
			return true
		}
	}
	f.wrong++
	return false
}

// written returns a code as it is compared: without blanks and hyphens, in capitals.
func written(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// newRecovery returns new recovery codes, and their hashes for the configuration.
func newRecovery() (shown, hashes []string) {
	for range config.MaxRecovery {
		code := rand.Text()[:16]
		shown = append(shown, code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:])
		hashes = append(hashes, token.Hash(code))
	}
	return shown, hashes
}
