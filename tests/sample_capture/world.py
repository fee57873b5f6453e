"""What the sample's application knows when its day begins, and what its suppliers send."""

from collections.abc import Sequence
from pathlib import Path

from sample_capture.day import LOYAL, REGULARS, REMOTE, WITHDRAWN

Rows = Sequence[tuple[object, ...]]
OrderRow = tuple[int, int, str, int, str, str, int]

_NAMES = "Ada Lindqvist, Bo Petersen, Carla Nowak, Deniz Aydin, Emil Brandt, Femke Visser"
NAMES = tuple(_NAMES.split(", "))
STREETS = ("Fischmarkt", "Deichstrasse", "Kehrwieder", "Am Sandtorkai", "Grimm", "Steinhoeft")
GOODS = ("Lemons", "Matjes", "Riesling", "Rye bread", "Cod fillet", "Salted butter", "Leeks")
CHILLED = ("Matjes", "Cod fillet", "Salted butter")
ZONES = (
    *(("20", "Hamburg", 0, "hafen"), ("21", "Harburg", 150, "sued")),
    ("22", "Altona", 90, "west"),
)
VOUCHERS = (("ADVENT10", 10, 0, "2026-12-24"),)
SLOTS = tuple(
    (f"2026-11-{day}", name, capacity)
    for day, name, capacity in ((18, "noon", 40), (19, "noon", 400), (19, "evening", 400))
)
FEEDS = {
    "points": ("3.50", "12.90", "8.00", "21.40"),
    "commas": ("3,50", "12,90", "8,00", "21,40"),
    "longer": ("8.00", "9.10", "12,90", "21,40"),
}


def accounts() -> Rows:
    """Customers of three kinds, and two members of staff."""
    rows = []
    for number in (*REGULARS, *LOYAL, *REMOTE, 901, 902):
        postcode = "17489" if number in REMOTE else f"20{451 + number % 9}"
        street = f"{STREETS[number % len(STREETS)]} {number % 40 + 1}"
        role = "staff" if number > 900 else "customer"
        name = NAMES[number % len(NAMES)]
        mail = f"account{number}@example.com"
        rows.append((number, f"tok-{number}", name, mail, street, postcode, role))
    return rows


def products() -> Rows:
    """Sixty products."""
    rows = []
    for number in range(1, 61):
        name = GOODS[number % len(GOODS)]
        storage = "chilled" if name in CHILLED else "dry"
        price = 150 + number * 37 % 2200
        rows.append((number, f"P-{number:03d}", f"{name} {number}", price, 500, "reduced", storage))
    return rows


def orders() -> list[OrderRow]:
    """Two delivered orders for every customer, and those somebody has still to deal with."""
    rows: list[OrderRow] = []
    for account in (*REGULARS, *LOYAL):
        for number in (1000 + 2 * account, 1001 + 2 * account):
            rows.append((number, account, "delivered", 1480, "2026-11-06T09:30:00+00:00", "", 1))
    yesterday = "2026-11-16T15:10:00+00:00"
    rows.append((1290, 8, "pending", 2310, yesterday, "", 0))
    rows.append((1300, 90, "paid", 1990, yesterday, "", 0))
    rows += [
        (number, number - 1290, "paid", 4270, yesterday, "", 1) for number in range(1301, 1307)
    ]
    for number in range(1310, 1318):
        rows.append(
            (number, number - 1290, "shipped", 1990, yesterday, f"LRD{number * 7919:08d}", 1)
        )
    return rows


def order_lines() -> Rows:
    """Return the lines of those orders."""
    rows = []
    for number, account, *_ in orders():
        if number in range(1301, 1307):
            product = 4
        elif number == 1300 or (account in LOYAL and number % 2):
            product = WITHDRAWN[account % len(WITHDRAWN)]
        else:
            product = (7, 21, 28, 35, 42)[number % 5]
        rows.append((number, product, 2, 740))
    return rows


def basket_lines() -> Rows:
    """Everybody has something in the basket."""
    return [(account, 3 + account % 8, 1) for account in (*REGULARS, *LOYAL, *REMOTE)]


def inserts() -> list[tuple[str, Rows]]:
    """Statements and their rows, in order."""
    order_columns = "id, account_id, status, total_cents, placed_at, parcel, invoiced"
    return [
        (_insert("accounts", "id, token, name, email, street, postcode, role"), accounts()),
        (_insert("products", "id, sku, name, price_cents, stock, vat_class, storage"), products()),
        (_insert("orders", order_columns), orders()),
        (_insert("order_lines", "order_id, product_id, quantity, price_cents"), order_lines()),
        ("UPDATE orders SET card_token = ? WHERE id = ?", [("tok_3ds_8", 1290)]),
        (_insert("basket_lines", "account_id, product_id, quantity"), basket_lines()),
        (_insert("zones", "prefix, name, surcharge_cents, depot"), ZONES),
        (_insert("vouchers", "code, percent, minimum_cents, expires"), VOUCHERS),
        (_insert("slots", "day, name, capacity"), SLOTS),
        (_insert("bookings", "account_id, day, slot"), [(12, "2026-11-18", "morning")]),
    ]


def _insert(table: str, columns: str) -> str:
    marks = ", ".join("?" for _ in columns.split(","))
    return f"INSERT INTO {table} ({columns}) VALUES ({marks})"


def send_feeds(folder: Path, version: str) -> None:
    """Write the suppliers' feeds; one changes its price format."""
    heading = "sku;name;price;stock"
    folder.mkdir(parents=True, exist_ok=True)
    well = [
        f"P-{number:03d};{GOODS[number % 7]} {number};4.{number:02d};500" for number in (7, 8, 9)
    ]
    (folder / "elbhof.csv").write_text("\n".join([heading, *well]) + "\n", "utf-8")
    fish = [f"NF-{row};Catch {row};{price};60" for row, price in enumerate(FEEDS[version])]
    (folder / "nordfisk.csv").write_text("\n".join([heading, *fish]) + "\n", "utf-8")
