package config

import (
	"time"
)

// Options are the settings of a server. The tags name a setting, give its default and
// document it; docs/reference/flags.md is made from them.
type Options struct {
	Listen      []string `name:"listen" default:"127.0.0.1:5434" help:"Addresses (host:port) where PostgreSQL clients are served. Port 0 takes a free port. Anything beyond loopback needs user-file."`
	UnixSocket  string   `name:"unix-socket" help:"Path of a unix socket to serve as well, for example /run/eider/.s.PGSQL.5434. libpq takes the folder as host and 5434 as port."`
	AdminListen string   `name:"admin-listen" default:"127.0.0.1:5435" help:"Address of the HTTP endpoint with /metrics, /healthz and /readyz; empty turns it off. It has no authentication: keep it where only operators are."`
	Pprof       bool     `name:"pprof" help:"Serve Go's profiles under /debug/pprof at admin-listen."`

	Data      string   `name:"data" default:"eider-data" help:"Folder of the embedded store. It is made when it does not exist; one server uses it at a time."`
	Engine    string   `name:"engine" default:"pebble" choices:"pebble memory" help:"Where data lives: pebble (the data folder) or memory (nothing survives the process)."`
	Catalogs  []string `name:"catalogs" default:"lake" help:"Catalogs to create when a store is new; the catalog postgres, for tools' maintenance connections, is made too. An existing store is left as it is."`
	CacheSize Bytes    `name:"cache-size" default:"256MiB" help:"Memory for blocks of table files. Too small a cache makes reads several times slower."`
	Fsync     bool     `name:"fsync" default:"true" help:"Wait for stable storage at COMMIT. DANGER: false loses acknowledged commits in a power failure or a crash of the machine."`

	Migrate              string `name:"migrate" default:"allow" choices:"allow any refuse" help:"What a client may do to a catalog's format (ATTACH with AUTOMATIC_MIGRATION): allow formats that this server knows, allow any, or refuse. ALTER DATABASE ... SET eider.migrate says otherwise for one catalog."`
	MigrationCheckpoints int    `name:"migration-checkpoints" default:"5" help:"Copies of the store from before migrations to keep, in the folder checkpoints of the data folder; 0 makes none. Files that have not changed since take no space of their own."`

	Checks string `name:"checks" default:"enforce" choices:"enforce warn off" help:"What happens to a commit that violates a check of a lake's state: enforce refuses it, warn lets it land and records a finding, off does not look. \"eider checks\" says otherwise for a catalog, a lake, a table or a check."`

	Rebase bool `name:"rebase" help:"Give a commit that only appends, and has lost the race for its snapshot id, the next one, instead of letting the client repeat it. DuckDB's last_committed_snapshot() then names another commit. ALTER DATABASE ... SET eider.rebase says otherwise for one catalog."`

	UserFile   string `name:"user-file" help:"Users and their SCRAM-SHA-256 verifiers, as \"eider user add\" writes them. It is read again when it changes. Without it everybody who reaches the server may do everything, so that it must be reachable from this machine only."`
	TLSCert    string `name:"tls-cert" help:"PEM file with the server's certificate and its chain. With tls-key it turns encryption on."`
	TLSKey     string `name:"tls-key" help:"PEM file with the certificate's private key."`
	RequireTLS bool   `name:"require-tls" help:"Refuse unencrypted TCP connections."`

	MaxConnections   int           `name:"max-connections" default:"5000" help:"Clients served at a time; more are refused with SQLSTATE 53300."`
	MaxMessage       Bytes         `name:"max-message" default:"1GiB" help:"Longest message, and so longest statement, that is accepted from a client."`
	MaxNotifications int           `name:"max-notifications" default:"1000" help:"Notifications kept for a client that listens and does not read; what is dropped beyond them is counted and told. Of eider_commit the newest is kept for each lake."`
	StatementMemory  Bytes         `name:"statement-memory" default:"512MiB" help:"Memory that sorts, joins and aggregates of one statement may take; more ends it with SQLSTATE 53200."`
	TransactionSize  Bytes         `name:"transaction-size" default:"1GiB" help:"Bytes that one transaction may write."`
	CommitTurn       bool          `name:"commit-turn" default:"true" help:"Let a transaction that lost the race for a snapshot commit before others when it comes again, so that no commit needs more than two attempts."`
	CommitTurnBound  time.Duration `name:"commit-turn-bound" default:"2s" help:"Longest time for which others' commits wait for such a transaction."`
	CommitPacing     bool          `name:"commit-pacing" default:"true" help:"While such losses are frequent, let connections that commit begin one after the other, so that hardly any loses. Readers never wait."`
	CommitForesight  bool          `name:"commit-foresight" default:"true" help:"Tell the next of these connections which head the running commit will leave, where that is foreseeable, so that its client works on meanwhile."`
	PlanCache        int           `name:"plan-cache" default:"4096" help:"Plans kept, of all catalogs; 0 turns the cache off."`
	StartupTimeout   time.Duration `name:"startup-timeout" default:"60s" help:"Time for a client to connect and authenticate."`
	ShutdownTimeout  time.Duration `name:"shutdown-timeout" default:"30s" help:"Time for running statements to end after SIGTERM or SIGINT, before they are cancelled. A second signal cancels them at once."`
	DrainTimeout     time.Duration `name:"drain-timeout" default:"30s" help:"Time for which a stopping server goes on reading a client's COPY data after that. Closing the connection of a sending DuckDB breaks its whole instance."`

	LakePaths    []string `name:"lake-paths" default:"local" help:"Folders with data files of lakes that the server may read, to verify row ids: /srv/lake, s3://bucket/lake. The word local stands for every other folder of this machine and promises nothing: files that are not there are passed over. Empty: the server reads no data file."`
	S3Endpoint   string   `name:"s3-endpoint" help:"Object storage for s3:// paths: host, host:port or a URL, of which http:// turns TLS off. Empty: Amazon S3."`
	S3Region     string   `name:"s3-region" help:"Region of the buckets; empty: AWS_REGION, or what the storage says."`
	S3PathStyle  bool     `name:"s3-path-style" help:"Put the bucket into the path and not into the host's name, as most servers but Amazon's want it."`
	S3AccessKey  string   `name:"s3-access-key" help:"Access key of the object storage; empty: AWS_ACCESS_KEY_ID, or requests that are not signed."`
	S3SecretFile string   `name:"s3-secret-file" help:"File with the secret key for s3-access-key; empty: AWS_SECRET_ACCESS_KEY."`

	HoldTier      int           `name:"hold-tier" default:"2" help:"How far compactions are verified where their files can be read: 0 by the catalog alone, 1 by the files' footers, 2 by all row ids, 3 by all rows, for tests. Tier 0 is always on."`
	HoldTimeout   time.Duration `name:"hold-timeout" default:"2m" help:"Time for reading files when one commit is verified; what is not read then is not verified."`
	HoldBytes     Bytes         `name:"hold-bytes" default:"4GiB" help:"Row ids read to verify one commit, at most, at 8 bytes each."`
	HoldCache     int           `name:"hold-cache" default:"4096" help:"Files and verdicts remembered; 0 remembers none."`
	NullRowStarts bool          `name:"null-row-starts" default:"true" help:"Store NULL as row_id_start of data files that have their rows' ids inside. Merges by DuckLake then keep the ids, which otherwise they must be refused for."`
	RowIDGaps     bool          `name:"row-id-gaps" default:"true" help:"Leave a row id out between new data files of a sorted table, and around files of updates that the server cannot read. Merges by DuckLake then keep the ids."`

	DeletePaths   []string `name:"delete-paths" help:"Folders in which maintenance may delete files: /srv/lake, s3://bucket/lake, gs://bucket/lake, az://container/lake. The paths in a catalog are its users' choice, so nothing is deleted elsewhere: such files are left to clients."`
	GCSEndpoint   string   `name:"gcs-endpoint" help:"Where gs:// folders of delete-paths are reached, if not at Google's public address: host, host:port or a URL, of which http:// turns TLS off."`
	GCSAccessKey  string   `name:"gcs-access-key" help:"HMAC access key for gs:// folders of delete-paths."`
	GCSSecretFile string   `name:"gcs-secret-file" help:"File with the secret of gcs-access-key."`
	AzureAccount  string   `name:"azure-account" help:"Storage account of az:// and abfss:// folders that name none."`
	AzureKeyFile  string   `name:"azure-key-file" help:"File with the key of azure-account; empty: Azure's environment variables and the machine's identity."`

	Maintenance        bool          `name:"maintenance" default:"true" help:"Run maintenance jobs when the policies of a lake say so; see docs/maintenance.md. Without it only jobs that somebody asks for are run."`
	MaintenanceTick    time.Duration `name:"maintenance-tick" default:"1m" help:"How often the server looks for maintenance jobs that are due."`
	DeletionGrace      time.Duration `name:"deletion-grace" default:"0s" help:"How long a file stays after it was scheduled for deletion, in lakes for which the policy deletion-grace is not set; clients' own cleanups wait as well. \"eider gc policy set deletion-grace\" says otherwise for a catalog or a lake."`
	MaintenanceHistory int           `name:"maintenance-history" default:"1000" help:"Jobs that eider.jobs keeps in each catalog."`
	MeasureEvery       time.Duration `name:"measure-every" default:"15m" help:"How often each lake is measured for the metrics and for the triggers of policies; 0s never."`
	MeasureRows        int           `name:"measure-rows" default:"1000000" help:"Rows of each table of a lake that a measurement reads at most."`

	LogFormat        string        `name:"log-format" default:"text" choices:"text json" help:"Form of the log on standard error: text or json."`
	LogLevel         string        `name:"log-level" default:"info" choices:"debug info warn error" help:"Least severe messages to log: debug, info, warn or error."`
	LogStatements    bool          `name:"log-statements" help:"Log every statement. Statements hold data."`
	LogSlowStatement time.Duration `name:"log-slow-statement" default:"0s" help:"Log messages that take at least this long; 0 logs none."`
}

// Default returns the options of a server without flags, environment and file.
func Default() Options {
	var o Options
	for _, f := range fields(&o) {
		if err := f.Set(f.Default); err != nil {
			panic("config: default of " + f.Name + ": " + err.Error()) // a defect of this file
		}
	}
	return o
}
