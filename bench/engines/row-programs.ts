/** What one would write in plain Node for a job: a function for each row, Maps, and the answer at the end. */

// oxlint-disable-next-line typescript/no-explicit-any -- rows are what JSON.parse gives
export type Row = any;
export type Emit = (row: Record<string, unknown>) => void;
export type RowProgram = {
  /** Called for the rows of each table, in the order of the job's inputs, last one first. */
  rows: Readonly<Record<string, (row: Row) => void>>;
  end(): void;
};

const HOP_MS = 2_000;
const LENGTH_MS = 10_000;

function tumble(emit: Emit): RowProgram {
  const windows = new Map<number, Map<number, { n: number; sum: number }>>();
  return {
    rows: {
      bids: (row) => {
        const at = Date.parse(row.datetime);
        const start = at - (at % LENGTH_MS);
        let window = windows.get(start);
        if (window === undefined) windows.set(start, (window = new Map()));
        const total = window.get(row.auction);
        if (total === undefined) window.set(row.auction, { n: 1, sum: row.price });
        else {
          total.n++;
          total.sum += row.price;
        }
      },
    },
    end: () => {
      for (const [start, window] of windows)
        for (const [auction, { n, sum }] of window)
          emit({ auction, start: new Date(start).toISOString(), n, mean: sum / n });
    },
  };
}

function hotItems(emit: Emit): RowProgram {
  const windows = new Map<number, Map<number, number>>();
  return {
    rows: {
      bids: (row) => {
        const at = Date.parse(row.datetime);
        const last = at - (at % HOP_MS);
        for (let start = last; start > at - LENGTH_MS; start -= HOP_MS) {
          let window = windows.get(start);
          if (window === undefined) windows.set(start, (window = new Map()));
          window.set(row.auction, (window.get(row.auction) ?? 0) + 1);
        }
      },
    },
    end: () => {
      for (const [start, window] of windows) {
        const num = [...window.values()].reduce((most, n) => Math.max(most, n), 0);
        for (const [auction, n] of window)
          if (n === num) emit({ auction, num, start: new Date(start).toISOString() });
      }
    },
  };
}

function join(emit: Emit): RowProgram {
  const sellers = new Map<number, number>();
  return {
    rows: {
      auctions: (row) => {
        if (row.category === 10) sellers.set(row.id, row.seller);
      },
      bids: (row) => {
        const seller = sellers.get(row.auction);
        if (seller !== undefined) emit({ auction: row.auction, price: row.price, seller });
      },
    },
    end: () => undefined,
  };
}

function updating(emit: Emit): RowProgram {
  const totals = new Map<number, { n: number; sum: number }>();
  return {
    rows: {
      bids: (row) => {
        const total = totals.get(row.auction);
        if (total === undefined) totals.set(row.auction, { n: 1, sum: row.price });
        else {
          total.n++;
          total.sum += row.price;
        }
      },
    },
    end: () => {
      for (const [auction, { n, sum }] of totals) emit({ auction, n, mean: sum / n });
    },
  };
}

function lastBids(emit: Emit): RowProgram {
  const last = new Map<string, { row: Row; at: number }>();
  return {
    rows: {
      bids: (row) => {
        const key = `${row.bidder} ${row.auction}`;
        const at = Date.parse(row.datetime);
        const known = last.get(key);
        if (
          known === undefined ||
          at > known.at ||
          (at === known.at && row.price > known.row.price)
        )
          last.set(key, { row, at });
      },
    },
    end: () => {
      for (const { row } of last.values())
        emit({
          auction: row.auction,
          bidder: row.bidder,
          price: row.price,
          datetime: row.datetime,
        });
    },
  };
}

function topTen(emit: Emit): RowProgram {
  const best = new Map<number, number[]>();
  return {
    rows: {
      bids: ({ auction, price }) => {
        const prices = best.get(auction);
        if (prices === undefined) {
          best.set(auction, [price]);
          return;
        }
        if (prices.length === 10 && price <= (prices[9] as number)) return;
        let at = prices.length;
        while (at > 0 && (prices[at - 1] as number) < price) at--;
        prices.splice(at, 0, price);
        if (prices.length > 10) prices.pop();
      },
    },
    end: () => {
      for (const [auction, prices] of best)
        prices.forEach((price, at) => emit({ auction, price, place: at + 1 }));
    },
  };
}

export const ROW_PROGRAMS: Readonly<Record<string, (emit: Emit) => RowProgram>> = {
  parse: (emit) => ({
    rows: { bids: (row) => emit({ ...row, datetime: Date.parse(row.datetime) }) },
    end: () => undefined,
  }),
  q1: (emit) => ({
    rows: {
      bids: ({ auction, bidder, price, datetime, extra }) =>
        emit({
          auction,
          bidder,
          price: Math.round(price * 908) / 1000,
          datetime: Date.parse(datetime),
          extra,
        }),
    },
    end: () => undefined,
  }),
  tumble,
  q5: hotItems,
  join,
  updating,
  q18: lastBids,
  q19: topTen,
};
