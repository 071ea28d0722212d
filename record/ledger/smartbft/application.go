package smartbft

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"runtime"

	"github.com/hyperledger-labs/SmartBFT/pkg/types"
	"github.com/hyperledger-labs/SmartBFT/smartbftprotos"
	"google.golang.org/protobuf/proto"

	"synod.dev/synod/internal/canonical"
)

// application is what the library asks of a replica.
type application struct{ r *Replica }

// end marks the replica as failed and ends the goroutine of the library that called: it must not go on, because it
// would acknowledge what was not written.
func (a *application) end(err error) {
	a.r.fail(err)
	runtime.Goexit()
}

// Deliver implements api.Application.
func (a *application) Deliver(p types.Proposal, signatures []types.Signature) types.Reconfig {
	r := a.r
	if len(p.Header) < 8 || binary.BigEndian.Uint64(p.Header) < r.height {
		return types.Reconfig{} // Sync has stored it
	}
	if err := r.follows(p); err != nil {
		a.end(err)
	}
	if err := r.store(types.Decision{Proposal: p, Signatures: signatures}); err != nil {
		a.end(err)
	}
	return types.Reconfig{}
}

// Sync implements api.Synchronizer: it takes the blocks of others whose signatures verify.
func (a *application) Sync() types.SyncResponse {
	r := a.r
	for id := range uint64(len(r.config.Group.Keys)) {
		for id+1 != r.config.ID {
			taken := 0
			for _, b := range r.config.Transport.Blocks(id+1, r.height) {
				d, err := r.decode(b)
				if err != nil {
					break
				}
				if err := r.store(d); err != nil {
					a.end(err)
				}
				taken++
			}
			if taken == 0 {
				break
			}
		}
	}
	return types.SyncResponse{Latest: r.last}
}

// AssembleProposal implements api.Assembler.
func (a *application) AssembleProposal(metadata []byte, requests [][]byte) types.Proposal {
	return types.Proposal{Header: a.r.header(), Payload: canonical.Encode(requests), Metadata: metadata}
}

// SendConsensus implements api.Comm.
func (a *application) SendConsensus(to uint64, m *smartbftprotos.Message) {
	if b, err := proto.Marshal(m); err == nil {
		a.r.config.Transport.Send(to, append([]byte{isConsensus}, b...))
	}
}

// SendTransaction implements api.Comm.
func (a *application) SendTransaction(to uint64, request []byte) {
	a.r.config.Transport.Send(to, append([]byte{isRequest}, request...))
}

// Nodes implements api.Comm.
func (a *application) Nodes() (ids []uint64) {
	for i := range a.r.config.Group.Keys {
		ids = append(ids, uint64(i)+1)
	}
	return ids
}

// Sign implements api.Signer.
func (a *application) Sign(b []byte) []byte { return a.r.config.Secret.SignEnvelope(viewType, b) }

// SignProposal implements api.Signer.
func (a *application) SignProposal(p types.Proposal, aux []byte) *types.Signature {
	s, err := a.r.sign(p, aux)
	if err != nil {
		a.end(err)
	}
	return s
}

// VerifyProposal implements api.Verifier.
func (a *application) VerifyProposal(p types.Proposal) ([]types.RequestInfo, error) {
	if err := a.r.follows(p); err != nil {
		return nil, err
	}
	requests, err := a.r.requests(p)
	if err != nil {
		return nil, err
	}
	infos := []types.RequestInfo{}
	for _, b := range requests {
		infos = append(infos, a.RequestID(b))
	}
	return infos, nil
}

// VerifyRequest implements api.Verifier.
func (a *application) VerifyRequest(b []byte) (types.RequestInfo, error) {
	return a.RequestID(b), a.r.Allow(b)
}

// VerifyConsenterSig implements api.Verifier.
func (a *application) VerifyConsenterSig(s types.Signature, p types.Proposal) ([]byte, error) {
	b, err := a.r.verify(s, p)
	if err != nil {
		return nil, err
	}
	return b.Aux, nil
}

// VerifySignature implements api.Verifier.
func (a *application) VerifySignature(s types.Signature) error {
	if !a.r.signed(viewType, s) {
		return fmt.Errorf("smartbft: the signature of replica %d is not valid", s.ID)
	}
	return nil
}

// VerificationSequence implements api.Verifier: the replicas do not change.
func (a *application) VerificationSequence() uint64 { return 0 }

// RequestsFromProposal implements api.Verifier.
func (a *application) RequestsFromProposal(p types.Proposal) (infos []types.RequestInfo) {
	var requests [][]byte
	if canonical.Decode(p.Payload, maxBlock, &requests) != nil {
		return nil
	}
	for _, b := range requests {
		infos = append(infos, a.RequestID(b))
	}
	return infos
}

// AuxiliaryData implements api.Verifier.
func (a *application) AuxiliaryData(msg []byte) []byte {
	var b signedBlock
	if canonical.Decode(msg, maxBlock, &b) != nil {
		return nil
	}
	return b.Aux
}

// MembershipChange implements api.MembershipNotifier.
func (a *application) MembershipChange() bool { return false }

// RequestID implements api.RequestInspector.
func (a *application) RequestID(b []byte) types.RequestInfo {
	sum := sha256.Sum256(b)
	return types.RequestInfo{ClientID: "synod", ID: hex.EncodeToString(sum[:])}
}

// logger contains the library's panics: the goroutine ends, and the replica has failed.
type logger struct{ r *Replica }

// Debugf implements api.Logger.
func (logger) Debugf(string, ...any) {}

// Infof implements api.Logger.
func (logger) Infof(string, ...any) {}

// Warnf implements api.Logger.
func (logger) Warnf(string, ...any) {}

// Errorf implements api.Logger.
func (logger) Errorf(string, ...any) {}

// Panicf implements api.Logger.
func (l logger) Panicf(format string, args ...any) {
	l.r.fail(fmt.Errorf(format, args...))
	runtime.Goexit()
}
