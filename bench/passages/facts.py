"""Lines that stand deep inside outputs of programs, and what a person asks who remembers such an output only roughly.

Each fact is its line (or lines), the question, and the part of the line that answers it. Neither the question nor
anything else in the conversation has that part. The first, third, fifth ... fact of each kind was tuned on.
"""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """What is asked, and the text that a context has to hold."""

    line: str
    question: str
    answer: str


PIP = [
    Fact("  Downloading pydantic_core-2.23.4-cp312-cp312-manylinux_2_17_x86_64.whl (2.1 MB)",
         "How big was the pydantic core wheel?", "(2.1 MB)"),
    Fact("WARNING: The candidate selected for download is a yanked version: 'urllib3' candidate (version 2.0.0). "
         "Reason for being yanked: breaks proxies that need a CONNECT tunnel",
         "Why had that urllib3 release been yanked?", "breaks proxies that need a CONNECT tunnel"),
    Fact("ERROR: botocore 1.34.2 requires urllib3<2.1, but you have urllib3 2.2.1 which is incompatible.",
         "Which version of urllib3 would botocore accept?", "requires urllib3<2.1"),
    Fact("  error: pg_config executable not found; install libpq-dev or use the binary package of psycopg2",
         "Why did psycopg2 fail to build?", "pg_config executable not found"),
    Fact("  Attempting uninstall: numpy\n    Found existing installation: numpy 1.24.4\n"
         "    Uninstalling numpy-1.24.4:",
         "What numpy did we have before it was upgraded?", "numpy 1.24.4"),
    Fact("INFO: pip is looking at multiple versions of grpcio-status to determine which one is compatible. "
         "This could take a while (17 candidates so far).",
         "How many candidates of grpcio-status had pip tried?", "17 candidates"),
    Fact("  Cloning https://git.example.org/ml/tokenshelf.git (to revision 9f2c1e7) to /tmp/pip-req-build-k2x",
         "At which commit did it check out tokenshelf?", "9f2c1e7"),
    Fact("DEPRECATION: configurable-http is being installed using the legacy 'setup.py install' method; "
         "pip 25.3 will enforce this behaviour change.",
         "From which pip release on does the old setup.py way stop working?", "pip 25.3"),
    Fact("  Using cached torch-2.4.1+cpu-cp312-cp312-linux_x86_64.whl (194.9 MB)",
         "Was it the CPU build of torch that got installed, and which one?", "torch-2.4.1+cpu"),
    Fact("WARNING: Retrying (Retry(total=4)) after connection broken by 'ReadTimeoutError': mirror.example.net",
         "Which mirror timed out while downloading packages?", "mirror.example.net"),
]
NPM = [
    Fact("npm warn deprecated request@2.88.2: request has been deprecated, see request/issues/3142",
         "Where can I read about the deprecation of request?", "request/issues/3142"),
    Fact("npm warn EBADENGINE   package: 'vite@6.0.1',\nnpm warn EBADENGINE   required: { node: '^18.0.0 || >=22.4.0' },",
         "Which node does vite need?", ">=22.4.0"),
    Fact("npm error peer react@\"^17.0.2\" from react-dnd-lite@3.1.0",
         "react-dnd-lite complains about react: which one does it want?", '"^17.0.2"'),
    Fact("tar-fs  <2.1.2\nSeverity: high\nLink following and path traversal via extracting a crafted tar file - "
         "GHSA-pq67-2wwv-3xjx",
         "What is the advisory number for the tar-fs hole?", "GHSA-pq67-2wwv-3xjx"),
    Fact("npm info run esbuild@0.24.0 postinstall { code: 0, signal: null, took: '18.4s' }",
         "How long did the postinstall script of esbuild take?", "18.4s"),
    Fact("npm http fetch GET 404 https://registry.example.com/@acme%2fui-tokens 212ms",
         "Which private package of acme was not found in the registry?", "ui-tokens"),
    Fact("npm warn cleanup   [Error: EPERM: operation not permitted, rmdir '/srv/app/node_modules/fsevents']",
         "Which directory could npm not remove when it cleaned up?", "node_modules/fsevents"),
    Fact("npm warn using --force Recommended protections disabled; lockfile upgraded from version 1 to 3",
         "To what lockfile version did npm migrate?", "from version 1 to 3"),
    Fact("npm verbose stack     at async Arborist.reify (arborist/lib/reify.js:131:5) while moving sharp-libvips",
         "Which module was being moved when arborist crashed?", "sharp-libvips"),
    Fact("npm notice New major version of npm available! 10.8.2 -> 11.3.0",
         "Is there a newer npm we should upgrade to?", "11.3.0"),
]
MAKE = [
    Fact("src/parser/lexer.c:412:17: warning: comparison of integer expressions of different signedness",
         "Where in the lexer are signed and unsigned compared?", "lexer.c:412"),
    Fact("src/net/tls.c:88:5: error: 'SSL_CTX_set_ciphersuites' undeclared; did you mean 'SSL_CTX_set_cipher_list'?",
         "The TLS file doesn't compile, what does gcc suggest instead?", "SSL_CTX_set_cipher_list"),
    Fact("/usr/bin/ld: build/cache.o: in function `evict_page': undefined reference to `lru_touch'",
         "Which symbol is missing at link time in the cache object?", "lru_touch"),
    Fact("make[3]: *** [Makefile:219: build/zstd_wrap.o] Error 1",
         "Which line of the Makefile failed on zstd_wrap?", "Makefile:219"),
    Fact("cc1: warning: command-line option '-std=c++20' is valid for C++/ObjC++ but not for C",
         "Which compiler flag only makes sense for C++?", "-std=c++20"),
    Fact("src/io/ring.c:1031:22: warning: 'sqe' may be used uninitialized [-Wmaybe-uninitialized]",
         "Which variable of the io ring may be used without being initialized?", "'sqe'"),
    Fact("checking for liburing >= 2.5... no (found 2.1), building without io_uring",
         "What version of liburing did configure find?", "found 2.1"),
    Fact("strip: libgraph.so.4: section .gnu_debuglink at 0x3fa20 exceeds the end of the file",
         "Which library could strip not handle?", "libgraph.so.4"),
    Fact("test_allocator: 318 of 320 checks passed, 2 skipped because /dev/hugepages is not mounted",
         "Why were two of the allocator checks skipped?", "/dev/hugepages is not mounted"),
    Fact("ar: creating build/libcodec_a.a from 47 objects with thin archive disabled",
         "How many objects went into the codec archive?", "47 objects"),
]
SERVER = [
    Fact("12:41:07.223 WARN  exporter     metrics endpoint could not bind to :9464, address in use by pid 8812",
         "Which process was blocking the port of the metrics exporter?", "pid 8812"),
    Fact("12:41:09.871 ERROR payments     gateway declined charge ch_7Kd2 for order 55120: insufficient_funds",
         "Why was the charge for order 55120 declined?", "insufficient_funds"),
    Fact("12:41:11.002 INFO  scheduler    leader election won by node-c after 3 rounds, term 48",
         "Who became leader of the scheduler?", "node-c"),
    Fact("12:41:13.410 WARN  ratelimit    tenant bluebird throttled at 640 rps, quota is 500",
         "What quota did bluebird exceed?", "quota is 500"),
    Fact("12:41:15.555 ERROR mailer       smtp relay answered 421 4.7.0 greylisted, will retry at 13:05",
         "When is the mail going to be sent again?", "retry at 13:05"),
    Fact("12:41:17.120 INFO  migrations   applied 0042_split_address_table in 8.92 s",
         "How long did the migration that splits the address table run?", "8.92 s"),
    Fact("12:41:19.734 WARN  gc           pause of 1874 ms while heap was 92 % full",
         "How long was the garbage collection pause?", "1874 ms"),
    Fact("12:41:21.308 ERROR search       shard 7 of index catalog is read-only: disk watermark 95 % exceeded",
         "Why can't we write to the catalog index?", "disk watermark 95 %"),
    Fact("12:41:23.646 INFO  deploy       canary promoted to 25 % of traffic, image sha256:4be1",
         "What share of the traffic goes to the canary?", "25 % of traffic"),
    Fact("12:41:25.909 WARN  auth         certificate of idp.example.org expires in 6 days",
         "How long is the identity provider's certificate still valid?", "expires in 6 days"),
]
DIFF = [
    Fact("-    timeout: float = 30.0,\n+    timeout: float = 12.5,",
         "To what did we change the default timeout?", "float = 12.5"),
    Fact("-RETRY_LIMIT = 5\n+RETRY_LIMIT = 9  # the upstream restarts take four attempts",
         "What is the new retry limit?", "RETRY_LIMIT = 9"),
    Fact("+    if not hmac.compare_digest(signature, expected):\n+        raise WebhookRejected('bad signature')",
         "Which exception is raised when the webhook signature is wrong?", "WebhookRejected"),
    Fact("-from legacy.money import round_half_up\n+from decimal import ROUND_HALF_EVEN as BANKERS",
         "How do we round money since the change?", "ROUND_HALF_EVEN"),
    Fact("+CREATE INDEX CONCURRENTLY orders_by_shipping_day ON orders (shipping_day) WHERE cancelled_at IS NULL;",
         "Which orders does the new index on the shipping day cover?", "WHERE cancelled_at IS NULL"),
    Fact("-    color: var(--slate-400);\n+    color: var(--plum-650);",
         "What is the colour of the text now instead of slate?", "--plum-650"),
    Fact("-  replicas: 3\n+  replicas: 11",
         "How many replicas are configured after the patch?", "replicas: 11"),
    Fact("+@pytest.mark.skip(reason='flaky since the clock mock was removed')",
         "Why is that test skipped now?", "flaky since the clock mock was removed"),
    Fact("-  \"moment\": \"^2.29.4\",\n+  \"dayjs\": \"^1.11.13\",",
         "Which library replaced moment?", "dayjs"),
    Fact("+    logger.warning('stale lease of %s stolen after %d s', holder, LEASE_GRACE * 3)",
         "After what time does somebody else steal a stale lease?", "LEASE_GRACE * 3"),
]
TRACE = [
    Fact("  File \"/srv/app/billing/invoice.py\", line 284, in add_vat\n    rate = VAT[country]\n"
         "KeyError: 'XK'",
         "For which country is there no VAT rate?", "KeyError: 'XK'"),
    Fact("sqlalchemy.exc.OperationalError: (psycopg.OperationalError) connection to server at \"10.4.0.17\" refused",
         "What address did the database connection go to that was refused?", "10.4.0.17"),
    Fact("FAILED tests/test_cart.py::test_coupon_expired - AssertionError: assert 1990 == 1791",
         "What total did the expired coupon test come to, and what did it expect?", "1990 == 1791"),
    Fact("E       UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 5871: invalid continuation byte",
         "At which position of the input is the broken byte?", "position 5871"),
    Fact("  [Previous line repeated 974 more times]\nRecursionError: maximum recursion depth exceeded in comparison",
         "How often was the line repeated before the recursion error?", "974 more times"),
    Fact("SKIPPED [3] tests/test_geo.py:61: needs the PostGIS extension",
         "What do the skipped geo tests need?", "PostGIS"),
    Fact("Caused by: java.util.concurrent.TimeoutException: Timeout of 45000ms expired before topic refunds.v2 was found",
         "Which Kafka topic could not be found in time?", "refunds.v2"),
    Fact("panic: runtime error: slice bounds out of range [:128] with capacity 96",
         "What was the capacity of the slice when the Go program panicked?", "capacity 96"),
    Fact("thread 'decoder-2' panicked at src/frame.rs:377:9: attempt to subtract with overflow",
         "Where in the Rust code does the overflow happen?", "src/frame.rs:377"),
    Fact("slowest durations: 71.03s call tests/test_export.py::test_full_archive",
         "How long does the slowest test take?", "71.03s"),
]
PAGE = [
    Fact("<dt>Data retention</dt><dd>Backups are kept for 35 days and then overwritten.</dd>",
         "For how long does the vendor keep backups?", "35 days"),
    Fact("<p>The free tier allows 2,500 requests per month; every further request costs 0.4 cents.</p>",
         "How many requests are free?", "2,500 requests"),
    Fact("<li>Support answers priority-one tickets within <b>55 minutes</b>, also at weekends.</li>",
         "How quickly do they answer priority one tickets?", "55 minutes"),
    Fact("<p>Since release 7.3 the endpoint <code>/v1/batch</code> is limited to 96 items.</p>",
         "How many items can I send to the batch endpoint?", "96 items"),
    Fact("<td>Region eu-north-2</td><td>planned for the second quarter of 2027</td>",
         "When does the region in the north open?", "second quarter of 2027"),
    Fact("<p>Webhooks are signed with the header <code>X-Parcel-Seal</code>.</p>",
         "Which header carries the signature of the webhooks?", "X-Parcel-Seal"),
    Fact("<aside>Customers on contract plan Copper cannot use single sign-on.</aside>",
         "Which plan comes without single sign-on?", "contract plan Copper"),
    Fact("<p>Uploads above 750 MB must use the resumable protocol described below.</p>",
         "From what size on do uploads have to be resumable?", "750 MB"),
    Fact("<p>To rotate the token, revoke the old one first: two may overlap for at most 20 minutes.</p>",
         "How long can two tokens overlap during a rotation?", "20 minutes"),
    Fact("<footer>Security contact: reports@harbourline.example, PGP key 0x5A7714C2</footer>",
         "What is the PGP key for reporting a security problem?", "0x5A7714C2"),
]
DOCKER = [
    Fact("#14 31.20 E: Package 'libvips-dev' has no installation candidate",
         "Which package could apt not install in the image?", "libvips-dev"),
    Fact("#17 exporting layers 12.8s done, image size 1.37GB",
         "How large did the image become?", "1.37GB"),
    Fact("  Warning  FailedScheduling  3m12s  default-scheduler  0/6 nodes are available: 6 Insufficient nvidia.com/gpu",
         "Why can't the pod be scheduled?", "Insufficient nvidia.com/gpu"),
    Fact("    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137",
         "Why was the container terminated last time?", "OOMKilled"),
    Fact("  # aws_db_instance.reporting will be destroyed (because it is not in configuration)",
         "Which database does terraform want to destroy?", "aws_db_instance.reporting"),
    Fact("      ~ instance_class = \"db.t4g.medium\" -> \"db.r7g.xlarge\"",
         "What instance class is the db changed to?", "db.r7g.xlarge"),
    Fact("  Liveness:  http-get http://:8086/healthz delay=25s timeout=1s period=10s",
         "On which port is the liveness check done?", ":8086/healthz"),
    Fact("#9 CACHED [builder 4/9] RUN apt-get install gfortran-12",
         "Which Fortran compiler does the builder stage install?", "gfortran-12"),
    Fact("Step 11/18 : ENV MALLOC_ARENA_MAX=2",
         "To what is the number of malloc arenas set in the Dockerfile?", "MALLOC_ARENA_MAX=2"),
    Fact("  Normal   Pulled  41s  kubelet  Successfully pulled image \"ledger:2.8.1\" in 5.3s",
         "What tag of the ledger image was pulled?", "ledger:2.8.1"),
]
