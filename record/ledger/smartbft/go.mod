module synod.dev/synod/record/ledger/smartbft

go 1.26.0

require (
	github.com/hyperledger-labs/SmartBFT v0.0.0-20250503203013-eb005eef8866
	golang.org/x/time v0.15.0
	google.golang.org/protobuf v1.36.11
	synod.dev/synod v0.0.0
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/fxamacker/cbor/v2 v2.9.6 // indirect
	github.com/transparency-dev/merkle v0.0.2 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace synod.dev/synod => ../../..
