"""Rows of an application and its memory in one transaction of a SQLAlchemy session: stored together, or not at all.

pip install pg-agent-memory 'sqlalchemy>=2'
agent-memory install --dsn postgresql:///app
python examples/sqlalchemy_session.py postgresql+psycopg:///app ana trains 2     # 0 trains are refused
"""

from __future__ import annotations

import sys

from sqlalchemy import CheckConstraint, MetaData, Table, create_engine, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    """The tables of the application."""


class Booking(Base):
    """What a user has booked."""

    __tablename__ = "bookings"
    __table_args__ = (CheckConstraint("places > 0", name="has_places"),)

    booking_id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[str]
    item: Mapped[str]
    places: Mapped[int]


def main(url: str, user_id: str, item: str, places: int) -> None:
    """Book, with what was said and what to remember; then print all memories of the user."""
    engine = create_engine(url)
    Base.metadata.create_all(engine)
    # Tables are read, and changed by functions: reflect them, and have no migration compare them.
    memories = Table("memories", MetaData(), schema="memory", autoload_with=engine)

    with Session(engine) as session, session.begin():
        message = func.memory.add_message(user_id, "bookings", "user", f"Book {places} {item}.")
        stored = session.execute(select(message.table_valued("seq", "content"))).one()
        # Arguments go by their place. To name them: text("select memory.add_memory(user_id => :user, ...)").
        session.execute(select(func.memory.add_memory(user_id, f"Has booked {item}")))
        session.add(Booking(user_id=user_id, item=item, places=places))
        print(f"message {stored.seq}: {stored.content}")

    with Session(engine) as session:
        mine = select(memories.c.content).where(memories.c.user_id == user_id).order_by(memories.c.created_at)
        for content in session.scalars(mine):
            print(content)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(f"usage: {sys.argv[0]} URL USER ITEM PLACES")
    url, user_id, item, places = sys.argv[1:]
    try:
        main(url, user_id, item, int(places))
    except IntegrityError:
        sys.exit("Not booked, and nothing of it remembered.")
