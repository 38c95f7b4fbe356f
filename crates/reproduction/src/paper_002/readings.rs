//! The readings of the paper.

use crate::claim::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "0.4",
        words: "what saturates accepts less than 98 % of a load; its level is the most accepted at \
            any load, every \
                hundredth of which from 0.85 to 0.90 is run; orders need \
                two seeds and have five, those of bursts and applications three",
    },
    Reading {
        id: "3.1.1",
        words: "four packets of a channel in front of a tile are shared by the queues for its \
            outputs: four for each would be \
                3 MB in a switch, seven times its port buffers. So packets for a hot spot can keep \
                out others for the same \
                column, and these are put aside behind them",
    },
    Reading {
        id: "3.1.3",
        words: "every marked acknowledgement leaves 80 % of a window, as the paper writes; it also \
            calls the protocol most similar \
                to TCP's (RFC 3168), which reacts once to a window of packets: then four sources \
                need tens of \
                microseconds to slow down, as in Figures 7 and 8, and not three",
    },
    Reading {
        id: "3.5",
        words: "the paper gives no durations; ours are 20 + 40 us (uniform) and 20 + 60 us \
            (bursts), shorter than the \
                50 + 100 and 50 + 200 us of the specification; the distribution is of packets \
                received after the onset",
    },
    Reading {
        id: "8.2",
        words: "ranks of the paper, but fewer rounds: BIGFFT 1 with a quarter of the size, AMG 1, \
            MultiGrid 2, \
                FillBoundary 2, AMR 5, MiniFE 10",
    },
    Reading {
        id: "X002-1",
        words: "11.875 KB per endpoint at 25 %, which the paper rounds to 12",
    },
    Reading {
        id: "X002-2",
        words: "7/8 of end ports, 3/4 of local ports and nothing of global ones is stash, though \
            more is unused",
    },
    Reading {
        id: "X002-3",
        words: "eleven switches in a group, as printed",
    },
    Reading {
        id: "X002-4",
        words: "round robin at the output multiplexers",
    },
    Reading {
        id: "X002-5",
        words: "an input is congested above half of its normal part: 62, 125 or 500 flits with a \
            stash, 500 without",
    },
    Reading {
        id: "X002-6",
        words: "windows grow by a flit every 30 cycles of the link. Where every packet draws its \
            hot spot (G002-12), 48 sources share its \
                link, and each hears of it every 1.15 us: after 4 us with a mark, and eight cuts \
                later, after 13 us, its window of \
                4096 flits has come down to the 690 that it has under way there and binds. So the \
                12 us of the paper do follow from its \
                numbers. A source that keeps one hot spot, shared by four, is stopped by its \
                window after 5.5 us (three of four flits \
                stay under way), marked or not",
    },
    Reading {
        id: "X002-8",
        words: "2 % slower counts as not slower",
    },
    Reading {
        id: "G002-1",
        words: "eight core cycles from header to link; row buses, tiles and multiplexers, which \
            are faster than links, begin with \
                the header",
    },
    Reading {
        id: "G002-2",
        words: "PAR-6/2 as its authors have it (Garcia et al., ICPP 2013), whom the paper cites: a \
            switch leaves the minimal output \
                where it is blocked and has 30 % of its credits in use, for one that has at most \
                80 % of that; six local lanes and \
                two global ones, by place on the longest way l-l-g-l-l-g-l-l. They print no \
                thresholds: these are ours",
    },
    Reading {
        id: "G002-3",
        words: "acknowledgements go first at endpoints and are not stashed; they have a channel of \
            their own as far as the first \
                switch, and then those of data: behind data that waits for a stash, that is for \
                other acknowledgements, they would \
                wait in a cycle",
    },
    Reading {
        id: "G002-4",
        words: "a copy goes to the column whose stashes have the most room that is not promised \
            yet, and takes the bus only with \
                room promised there; then to the port with most room in column buffer and stash. \
                If copies could wait for a \
                stash in the buffers of the storage channel, four packets each in front of tiles \
                and outputs, these would hold \
                77 KB in a switch in addition to the 59 KB of a quarter of the stash, and Little's \
                law would not bind",
    },
    Reading {
        id: "G002-5",
        words: "a message between ports of a switch takes ten core cycles",
    },
    Reading {
        id: "G002-6",
        words: "a stash holds packets rounded up to two flits",
    },
    Reading {
        id: "G002-7",
        words: "an output keeps each flit for a round trip of its link: 10 KB at 10 GB/s are the 1 \
            us of a global link",
    },
    Reading {
        id: "G002-8",
        words: "a single-packet message has 24 flits",
    },
    Reading {
        id: "G002-9",
        words: "one trial for each message time and endpoint",
    },
    Reading {
        id: "G002-11",
        words: "virtual channels have equal priority: a row bus serves them in turn, that of the \
            stash among them; a packet holds the bus, and its room \
                comes free when its header leaves",
    },
    Reading {
        id: "G002-12",
        words: "12 hot spots and 48 aggressors are drawn, and every packet of an aggressor goes to \
            any of the hot spots; one of \
                them is endpoint 0, whose ports are as random as any, so that its switch is known, \
                and what goes there is a class of its \
                own: a twelfth of what each aggressor sends",
    },
    Reading {
        id: "G002-13",
        words: "victims send to victims",
    },
    Reading {
        id: "G002-14",
        words: "a window has room for one packet at least",
    },
    Reading {
        id: "G002-15",
        words: "a packet of each channel in use keeps its place in a port buffer, the rest is \
            shared",
    },
    Reading {
        id: "G002-16",
        words: "skeletons stand for the traces, which are not shipped",
    },
];
