"""Who is measured: gitticks, Python's own start-up, and the trackers of others that are installed.

Each peer is a class that fills a folder with the same tasks in its own format and says which commands do the same
work. To add one: a module here, and its name in the list below.
"""

from benchmarks.peers.backlog import Backlog
from benchmarks.peers.base import Peer
from benchmarks.peers.microbeads import Microbeads
from benchmarks.peers.ours import Asking, Boarded, Gitticks, Imported
from benchmarks.peers.seeds import Seeds
from benchmarks.peers.sharing import Diverged, Shared
from benchmarks.peers.taskwarrior import Taskwarrior
from benchmarks.peers.ticket import Ticket

PEERS: tuple[Peer, ...] = (
    Gitticks(),
    Boarded(),
    Asking(),
    Imported(),
    Shared(),
    Diverged(),
    Ticket(),
    Microbeads(),
    Seeds(),
    Taskwarrior(),
    Backlog(),
)
